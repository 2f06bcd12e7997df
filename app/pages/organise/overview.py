"""Organisers' views of a whole challenge: its submissions, with actions on several of them, its entrants, its queue."""

import uuid
from collections.abc import Sequence
from functools import partial
from typing import Annotated

from fastapi import Depends, Form, Request
from starlette.responses import Response

from vocboard.app.challenges import phase_people
from vocboard.app.challenges.phases import phases_of
from vocboard.app.database import now
from vocboard.app.errors import ConflictError, InvalidInputError
from vocboard.app.intake import attempts
from vocboard.app.organising import bans
from vocboard.app.organising import entrants as entrants_of
from vocboard.app.organising import moderation as bulk
from vocboard.app.organising import queue as queue_of
from vocboard.app.organising import submissions as overview
from vocboard.app.organising.bans import Results
from vocboard.app.organising.moderation import Action, Outcome
from vocboard.app.organising.submissions import Filters, Flag, SubmissionSort
from vocboard.app.pages import wording
from vocboard.app.pages.filters import address_with, chosen, page_number
from vocboard.app.pages.forms import NO_ERRORS, FormErrors, go_to
from vocboard.app.pages.rendering import render
from vocboard.app.submissions.filters import SubmissionKind
from vocboard.app.web.csrf import protect_form
from vocboard.app.web.organised import Organised, OrganisedChallenge
from vocboard.app.web.routes import Routes

router = Routes("/organise/{slug}")


@router.get("/submissions")
def submissions_page(organised: Organised) -> Response:
    """Everyone's submissions."""
    return _submissions_page(organised)


@router.post("/submissions/actions", dependencies=[Depends(protect_form)])
def act_on_submissions(
    organised: Organised,
    *,
    submission: Annotated[Sequence[uuid.UUID], Form()] = (),
    action: Annotated[str, Form()] = "",
    reason: Annotated[str, Form()] = "",
) -> Response:
    """Do something with several submissions."""
    organised.load()  # others must not learn what the form needs
    try:
        known = chosen(Action, action)
        if known is None:
            raise InvalidInputError({"action": "Choose what to do."})
        outcomes = organised.change(
            bulk.act, action=known, submission_ids=submission, reason=reason, site=organised.site
        )
    except InvalidInputError as error:
        return _submissions_page(
            organised, errors=FormErrors.of(error), ticked=submission, action=action, reason=reason
        )
    refused = [one for one in outcomes if one.refusal is not None]
    if refused:
        return _submissions_page(organised, done=len(outcomes) - len(refused), refused=refused)
    return go_to(
        address_with(f"/organise/{organised.slug}/submissions", organised.request.query_params, {}), done="bulk"
    )


@router.get("/entrants")
def entrants_page(organised: Organised) -> Response:
    """Who has submitted, how much of the quota they have used, and how far they have come."""
    return _entrants_page(organised)


@router.post("/bans", dependencies=[Depends(protect_form)])
def ban(
    organised: Organised,
    *,
    person: Annotated[uuid.UUID, Form()],
    reason: Annotated[str, Form()] = "",
    results: Annotated[Results, Form()] = Results.KEEP,
    server: Annotated[bool, Form()] = False,
) -> Response:
    """Ban somebody from the challenge; administrators also from the server."""
    try:
        with organised.writing() as (session, challenge):
            entrant = bans.entrant(session, challenge=challenge, user_id=person)
            change = bans.ban_from_server if server else partial(bans.ban, challenge=challenge)
            change(session, person=entrant, user=organised.user, reason=reason, results=results, site=organised.site)
    except (ConflictError, InvalidInputError) as error:
        return _entrants_page(organised, errors=FormErrors.of(error))
    return go_to(f"/organise/{organised.slug}/entrants", done="banned")


@router.post("/bans/{user_id}/lift", dependencies=[Depends(protect_form)])
def lift_ban(organised: Organised, user_id: uuid.UUID) -> Response:
    """Let somebody take part again."""
    try:
        with organised.writing() as (session, challenge):
            person = bans.entrant(session, challenge=challenge, user_id=user_id)
            bans.lift_ban(session, challenge=challenge, person=person, user=organised.user, site=organised.site)
    except ConflictError as error:
        return _entrants_page(organised, errors=FormErrors.of(error))
    return go_to(f"/organise/{organised.slug}/entrants", done="ban-lifted")


@router.get("/queue")
def queue_page(organised: Organised) -> Response:
    """What waits and what runs, and whether workers look for work."""
    with organised.reading() as (session, challenge):
        health = queue_of.health(session, challenge)
    return render(organised.request, "organise/queue.html", challenge=challenge, health=health)


def _submissions_page(
    organised: OrganisedChallenge,
    *,
    errors: FormErrors = NO_ERRORS,
    ticked: Sequence[uuid.UUID] = (),
    action: str = "",
    reason: str = "",
    done: int = 0,
    refused: Sequence[Outcome] = (),
) -> Response:
    filters = _filters(organised.request)
    with organised.reading() as (session, challenge):
        read = partial(overview.page_of_submissions, session, challenge=challenge, filters=filters)
        found = read(page=page_number(organised.request))
        if found.total and not found.items:  # what was done has left nothing on the last page
            found = read(page=found.pages)
        rejected = attempts.rejected(session, challenge.id, kept_for=organised.settings.rejected_uploads_kept_for)
    methods = {row.submission.id: row.submission.method.name for row in found.items}
    return render(
        organised.request,
        "organise/submissions.html",
        errors=errors,
        challenge=challenge,
        page=found,
        rejected=rejected,
        rejected_days=organised.settings.rejected_uploads_kept_for.days,
        filters=filters,
        phases=phases_of(challenge),
        is_filtered=filters.is_any,
        kinds=wording.KINDS,
        flags=wording.FLAGS,
        actions=wording.BULK_ACTIONS,
        ticked=frozenset(ticked),
        chosen_action=action,
        reason=reason,
        done_count=done,
        refused=[(methods.get(one.submission_id, str(one.submission_id)), one.refusal) for one in refused],
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
        kind=chosen(SubmissionKind, given.get("state", "")),
        competition=given.get("competition", ""),
        phase=given.get("phase", ""),
        person=person,
        flag=chosen(Flag, given.get("flag", "")),
        sort=chosen(SubmissionSort, given.get("sort", "")) or SubmissionSort.UPLOADED,
        descending={"descending": True, "ascending": False}.get(order),
    )


def _entrants_page(organised: OrganisedChallenge, *, errors: FormErrors = NO_ERRORS) -> Response:
    sort = organised.request.query_params.get("sort", "")
    order = chosen(entrants_of.EntrantSort, sort) or entrants_of.EntrantSort.LATEST
    with organised.reading() as (session, challenge):
        found = entrants_of.page_of_entrants(
            session, challenge=challenge, sort=order, page=page_number(organised.request)
        )
        phases = phases_of(challenge)
        extras = phase_people.running_extra_quotas(session, challenge, at=now())
    return render(
        organised.request,
        "organise/entrants.html",
        errors=errors,
        challenge=challenge,
        page=found,
        phases=phases,
        titles={phase.key: phase.title for phase in phases},
        extras=extras,
        sort=order,
        sorts=wording.ENTRANT_SORTS,
        results=wording.BAN_RESULTS,
    )
