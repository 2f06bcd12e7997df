"""Organisers' views of a whole challenge: its submissions, with actions on several of them, its entrants, its queue."""

import uuid
from collections.abc import Sequence
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Depends, Form, Request
from starlette.responses import Response

from vocboard.app.accounts.models import User
from vocboard.app.challenges import phase_people
from vocboard.app.challenges import service as challenges
from vocboard.app.database import Database, now
from vocboard.app.errors import ConflictError, InvalidInputError
from vocboard.app.intake import attempts
from vocboard.app.moderation import bans, bulk
from vocboard.app.moderation.bans import Results
from vocboard.app.moderation.bulk import Action, Outcome
from vocboard.app.overview import entrants as entrants_of
from vocboard.app.overview import queue as queue_of
from vocboard.app.overview import submissions as overview
from vocboard.app.overview.submissions import Filters, Flag, Kind, Sort
from vocboard.app.pages import wording
from vocboard.app.pages.filters import address_with, chosen
from vocboard.app.pages.forms import NO_ERRORS, FormErrors, go_to
from vocboard.app.pages.rendering import render
from vocboard.app.settings import Settings
from vocboard.app.submissions.forms import TITLES
from vocboard.app.web.csrf import protect_form
from vocboard.app.web.dependencies import DatabaseDep, NotifierDep, SettingsDep
from vocboard.app.web.identity import Organiser

router = APIRouter(prefix="/organise/{slug}")


@router.get("/submissions")
def submissions_page(
    request: Request, database: DatabaseDep, settings: SettingsDep, user: Organiser, slug: str
) -> Response:
    """Everyone's submissions."""
    return _submissions_page(request, database, settings, user, slug)


@router.post("/submissions/actions", dependencies=[Depends(protect_form)])
def act_on_submissions(
    request: Request,
    database: DatabaseDep,
    notifier: NotifierDep,
    settings: SettingsDep,
    user: Organiser,
    slug: str,
    *,
    submission: Annotated[Sequence[uuid.UUID], Form()] = (),
    action: Annotated[str, Form()] = "",
    reason: Annotated[str, Form()] = "",
) -> Response:
    """Do something with several submissions."""
    with database.reading() as session:
        challenges.get_organised(session, slug, user)
    try:
        known = chosen(Action, action)
        if known is None:
            raise InvalidInputError({"action": "Choose what to do."})
        with database.writing() as session:
            challenge = challenges.get_organised(session, slug, user)
            outcomes = bulk.act(
                session,
                challenge=challenge,
                user=user,
                action=known,
                submission_ids=submission,
                reason=reason,
                site=settings.public_url,
            )
    except InvalidInputError as error:
        return _submissions_page(
            request, database, settings, user, slug, errors=FormErrors.of(error), ticked=submission
        )
    notifier.jobs_added()  # what is reinstated may wait for a worker
    notifier.mail_queued()
    refused = [one for one in outcomes if one.refusal is not None]
    if refused:
        return _submissions_page(
            request, database, settings, user, slug, done=len(outcomes) - len(refused), refused=refused
        )
    return go_to(address_with(f"/organise/{slug}/submissions", request.query_params, {}), done="bulk")


@router.get("/entrants")
def entrants_page(request: Request, database: DatabaseDep, user: Organiser, slug: str, sort: str = "") -> Response:
    """Who has submitted, how much of the quota they have used, and how far they have come."""
    return _entrants_page(request, database, user, slug, sort=sort)


@router.post("/bans", dependencies=[Depends(protect_form)])
def ban(
    request: Request,
    database: DatabaseDep,
    notifier: NotifierDep,
    settings: SettingsDep,
    user: Organiser,
    slug: str,
    *,
    person: Annotated[uuid.UUID, Form()],
    reason: Annotated[str, Form()] = "",
    results: Annotated[Results, Form()] = Results.KEEP,
    server: Annotated[bool, Form()] = False,
) -> Response:
    """Ban somebody from the challenge; administrators also from the server."""
    try:
        with database.writing() as session:
            challenge = challenges.get_organised(session, slug, user)
            entrant = bans.entrant(session, challenge=challenge, user_id=person)
            change = bans.ban_from_server if server else partial(bans.ban, challenge=challenge)
            change(session, person=entrant, user=user, reason=reason, results=results, site=settings.public_url)
    except (ConflictError, InvalidInputError) as error:
        return _entrants_page(request, database, user, slug, errors=FormErrors.of(error))
    notifier.mail_queued()
    return go_to(f"/organise/{slug}/entrants", done="banned")


@router.post("/bans/{user_id}/lift", dependencies=[Depends(protect_form)])
def lift_ban(
    request: Request,
    database: DatabaseDep,
    notifier: NotifierDep,
    settings: SettingsDep,
    user: Organiser,
    slug: str,
    user_id: uuid.UUID,
) -> Response:
    """Let somebody take part again."""
    try:
        with database.writing() as session:
            challenge = challenges.get_organised(session, slug, user)
            person = bans.entrant(session, challenge=challenge, user_id=user_id)
            bans.lift_ban(session, challenge=challenge, person=person, user=user, site=settings.public_url)
    except ConflictError as error:
        return _entrants_page(request, database, user, slug, errors=FormErrors.of(error))
    notifier.mail_queued()
    return go_to(f"/organise/{slug}/entrants", done="ban-lifted")


@router.get("/queue")
def queue_page(request: Request, database: DatabaseDep, user: Organiser, slug: str) -> Response:
    """What waits and what runs, and whether workers look for work."""
    with database.reading() as session:
        challenge = challenges.get_organised(session, slug, user)
        health = queue_of.health(session, challenge)
    return render(request, "organise/queue.html", challenge=challenge, health=health)


def _submissions_page(
    request: Request,
    database: Database,
    settings: Settings,
    user: User,
    slug: str,
    *,
    errors: FormErrors = NO_ERRORS,
    ticked: Sequence[uuid.UUID] = (),
    done: int = 0,
    refused: Sequence[Outcome] = (),
) -> Response:
    filters = _filters(request)
    number = request.query_params.get("page", "")
    with database.reading() as session:
        challenge = challenges.get_organised(session, slug, user)
        found = overview.page_of_submissions(
            session, challenge=challenge, filters=filters, page=int(number) if number.isdecimal() else 1
        )
        rejected = attempts.rejected(session, challenge.id, kept_for=settings.rejected_uploads_kept_for)
    methods = {row.submission.id: row.submission.method.name for row in found.items}
    return render(
        request,
        "organise/submissions.html",
        errors=errors,
        challenge=challenge,
        page=found,
        rejected=rejected,
        rejected_days=settings.rejected_uploads_kept_for.days,
        filters=filters,
        phases=challenges.phases_of(challenge),
        is_filtered=filters.is_any,
        kinds=wording.KINDS,
        flags=wording.FLAGS,
        actions=wording.BULK_ACTIONS,
        declaration_titles=TITLES,
        ticked=frozenset(ticked),
        done_count=done,
        refused=[(methods.get(one.submission_id, str(one.submission_id)), one.refusal) for one in refused],
        address_with=partial(address_with, f"/organise/{slug}/submissions", request.query_params),
    )


def _filters(request: Request) -> Filters:
    given = request.query_params
    order = given.get("order", "")
    try:
        person = uuid.UUID(given.get("person", ""))
    except ValueError:
        person = None
    return Filters(
        q=given.get("q", ""),
        kind=chosen(Kind, given.get("state", "")),
        competition=given.get("competition", ""),
        phase=given.get("phase", ""),
        person=person,
        flag=chosen(Flag, given.get("flag", "")),
        sort=chosen(Sort, given.get("sort", "")) or Sort.UPLOADED,
        descending={"descending": True, "ascending": False}.get(order),
    )


def _entrants_page(
    request: Request, database: Database, user: User, slug: str, *, sort: str = "", errors: FormErrors = NO_ERRORS
) -> Response:
    order = chosen(entrants_of.Sort, sort) or entrants_of.Sort.LATEST
    with database.reading() as session:
        challenge = challenges.get_organised(session, slug, user)
        found = entrants_of.entrants(session, challenge=challenge, sort=order)
        phases = challenges.phases_of(challenge)
        extras = phase_people.running_extra_quotas(session, challenge, at=now())
    return render(
        request,
        "organise/entrants.html",
        errors=errors,
        challenge=challenge,
        entrants=found,
        phases=phases,
        titles={phase.key: phase.title for phase in phases},
        extras=extras,
        sort=order,
        sorts=wording.ENTRANT_SORTS,
        results=wording.BAN_RESULTS,
    )
