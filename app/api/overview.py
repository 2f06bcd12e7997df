"""Organisers' views of a whole challenge: submissions, entrants, queue, audit log."""

import uuid
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import StreamingResponse

from vocboard.app.api.paging import DEFAULT_PER_PAGE, FIRST_PAGE, ItemPage, PageNumber, PerPage, item_page, page_of
from vocboard.app.api.problems import problem_responses
from vocboard.app.api.schemas.overview import (
    Banned,
    BanRequest,
    Entrant,
    LoggedEvent,
    OrganisersSubmission,
    Progress,
    QueueHealth,
    Worker,
)
from vocboard.app.api.submission_views import organisers_summary
from vocboard.app.audit import export, queries
from vocboard.app.challenges import bans as banned
from vocboard.app.challenges import service as challenges
from vocboard.app.challenges.models import Ban
from vocboard.app.forms import FilterInstant
from vocboard.app.moderation import bans
from vocboard.app.overview import entrants as entrants_of
from vocboard.app.overview import queue as queue_of
from vocboard.app.overview import submissions as overview
from vocboard.app.overview.submissions import Filters, Flag, Kind, Row, Sort
from vocboard.app.web.dependencies import DatabaseDep, NotifierDep, SettingsDep
from vocboard.app.web.identity import OrganisingUser

router = APIRouter(prefix="/challenges/{slug}", tags=["overview"])

READING = problem_responses(401, 403, 404)
CHANGING = problem_responses(400, 401, 403, 404, 409, 422)
CSV = {200: {"content": {"text/csv": {"schema": {"type": "string"}}}}}

Search = Annotated[
    str,
    Query(
        max_length=overview.MAX_SEARCH_LENGTH,
        description="Part of a name, an affiliation, an email address, a hash or an id.",
    ),
]


@router.get("/submissions", responses=READING)
def list_challenge_submissions(
    database: DatabaseDep,
    user: OrganisingUser,
    slug: str,
    *,
    q: Search = "",
    state: Kind | None = None,
    competition: str = "",
    phase: Annotated[str, Query(description="Key of a phase.")] = "",
    person: uuid.UUID | None = None,
    flag: Flag | None = None,
    sort: Sort = Sort.UPLOADED,
    descending: Annotated[
        bool | None,
        Query(
            description="Whether to sort in descending order: latest or best first. Default: true for dates, scores "
            "and warnings, false for names and states."
        ),
    ] = None,
    page: PageNumber = FIRST_PAGE,
    per_page: PerPage = DEFAULT_PER_PAGE,
) -> ItemPage[OrganisersSubmission]:
    """Search, filter and sort all submissions to a challenge. For its organisers."""
    filters = Filters(q, state, competition, phase, person, flag, sort, descending)
    with database.reading() as session:
        challenge = challenges.get_organised(session, slug, user)
        found = overview.page_of_submissions(
            session, challenge=challenge, filters=filters, page=page, per_page=per_page
        )
        return item_page(found, _submission)


@router.get("/entrants", responses=READING)
def list_entrants(
    database: DatabaseDep,
    user: OrganisingUser,
    slug: str,
    *,
    sort: entrants_of.Sort = entrants_of.Sort.LATEST,
    page: PageNumber = FIRST_PAGE,
    per_page: PerPage = DEFAULT_PER_PAGE,
) -> ItemPage[Entrant]:
    """List the people who have submitted, with their use of the quota and their progress."""
    with database.reading() as session:
        challenge = challenges.get_organised(session, slug, user)
        found = entrants_of.entrants(session, challenge=challenge, sort=sort)
    return item_page(page_of(found, page=page, per_page=per_page), _entrant)


@router.get("/queue", responses=READING)
def get_queue(database: DatabaseDep, user: OrganisingUser, slug: str) -> QueueHealth:
    """Return the queue, running evaluations and worker health."""
    with database.reading() as session:
        health = queue_of.health(session, challenges.get_organised(session, slug, user))
    return QueueHealth(
        waiting=health.own_waiting,
        running=health.own_running,
        waiting_on_server=health.waiting,
        running_on_server=health.running,
        waiting_since=health.waiting_since,
        scored_last_hour=health.scored_recently,
        failed_last_day=health.failed_lately,
        mean_seconds=health.mean_seconds,
        workers=[Worker(kind=one.kind, looked_at=one.looked_at, is_silent=one.is_silent) for one in health.workers],
    )


@router.get("/bans", responses=READING)
def list_bans(
    database: DatabaseDep,
    user: OrganisingUser,
    slug: str,
    page: PageNumber = FIRST_PAGE,
    per_page: PerPage = DEFAULT_PER_PAGE,
) -> ItemPage[Banned]:
    """List the challenge's bans, newest first."""
    with database.reading() as session:
        found = banned.bans_of(session, challenges.get_organised(session, slug, user).id)
    return item_page(page_of(found, page=page, per_page=per_page), lambda one: _banned(one, one.user.name))


@router.post("/bans", status_code=201, responses=CHANGING)
def ban(
    database: DatabaseDep,
    notifier: NotifierDep,
    settings: SettingsDep,
    user: OrganisingUser,
    slug: str,
    given: BanRequest,
) -> Banned:
    """Ban an entrant from submitting and publishing, and choose what happens to the published results.

    The person is notified by email.
    """
    with database.writing() as session:
        challenge = challenges.get_organised(session, slug, user)
        person = bans.entrant(session, challenge=challenge, user_id=given.user)
        found = bans.ban(
            session,
            challenge=challenge,
            person=person,
            user=user,
            reason=given.reason,
            results=given.results,
            site=settings.public_url,
        )
        answer = _banned(found, person.name)
    notifier.mail_queued()
    return answer


@router.delete("/bans/{user_id}", status_code=204, responses=CHANGING)
def lift_ban(
    database: DatabaseDep,
    notifier: NotifierDep,
    settings: SettingsDep,
    user: OrganisingUser,
    slug: str,
    user_id: uuid.UUID,
) -> None:
    """Lift a ban. What it did to results is not undone. The person is notified by email."""
    with database.writing() as session:
        challenge = challenges.get_organised(session, slug, user)
        person = bans.entrant(session, challenge=challenge, user_id=user_id)
        bans.lift_ban(session, challenge=challenge, person=person, user=user, site=settings.public_url)
    notifier.mail_queued()


@router.get("/log", responses=READING)
def get_log(
    database: DatabaseDep,
    user: OrganisingUser,
    slug: str,
    *,
    who: Annotated[str, Query(description="Who acted: the id of a person, `operator` or `server`.")] = "",
    action: Annotated[
        str, Query(description="Action, such as `submission.publish`, or `submission` for all actions on submissions.")
    ] = "",
    about: Annotated[
        uuid.UUID | None, Query(description="Object of the event: the id of a submission or another object.")
    ] = None,
    since: FilterInstant | None = None,
    until: FilterInstant | None = None,
    page: PageNumber = FIRST_PAGE,
    per_page: PerPage = DEFAULT_PER_PAGE,
) -> ItemPage[LoggedEvent]:
    """Return the audit log of a challenge, newest event first."""
    filters = _log_filters(who, action, about, since, until)
    with database.reading() as session:
        challenge = challenges.get_organised(session, slug, user)
        found = queries.page_of_log(session, challenge_id=challenge.id, filters=filters, page=page, per_page=per_page)
    return item_page(found, _event)


@router.get("/log.csv", response_class=StreamingResponse, responses=READING | CSV)  # type: ignore[operator]
def get_log_file(
    database: DatabaseDep,
    user: OrganisingUser,
    slug: str,
    *,
    who: str = "",
    action: str = "",
    about: uuid.UUID | None = None,
    since: FilterInstant | None = None,
    until: FilterInstant | None = None,
) -> StreamingResponse:
    """Return the audit log of a challenge as a CSV file, oldest event first."""
    with database.reading() as session:
        challenge = challenges.get_organised(session, slug, user)
    pieces = export.as_csv(database, challenge_id=challenge.id, filters=_log_filters(who, action, about, since, until))
    headers = {"Content-Disposition": f'attachment; filename="{slug}-log.csv"'}
    return StreamingResponse(pieces, media_type="text/csv", headers=headers)


def _log_filters(
    who: str, action: str, about: uuid.UUID | None, since: FilterInstant | None, until: FilterInstant | None
) -> queries.Filters:
    return queries.Filters(who, "".join(filter(str.isprintable, action)), about, since, until)


def _submission(row: Row) -> OrganisersSubmission:
    submission = row.submission
    return OrganisersSubmission(
        **organisers_summary(submission).model_dump(),
        email=submission.user.email,
        user=submission.user_id,
        means=dict(row.means),
        warnings=len(submission.warnings),
        archive_sha256=submission.archive_sha256,
        held_back=submission.held_back_at is not None,
        moderation_reason=submission.moderation_reason,
        has_copies=row.has_copies,
    )


def _entrant(entrant: entrants_of.Entrant) -> Entrant:
    return Entrant(
        user=entrant.user.id,
        name=entrant.user.name,
        email=entrant.user.email,
        affiliation=entrant.user.affiliation,
        submissions=entrant.submissions,
        counted=entrant.quota.counted,
        counted_now=entrant.quota.counted_now,
        published=entrant.published,
        failed=entrant.failed,
        disqualified=entrant.disqualified,
        latest_at=entrant.latest_at,
        ban=_banned(entrant.ban, entrant.user.name) if entrant.ban else None,
        progress=[
            Progress(
                phase=one.phase,
                method=one.method,
                competition=one.competition,
                scored=one.scored,
                first=one.first,
                best=one.best,
                improvement=one.improvement,
            )
            for one in entrant.progress
        ],
    )


def _banned(found: Ban, name: str) -> Banned:
    return Banned(id=found.id, user=found.user_id, name=name, reason=found.reason, created_at=found.created_at)


def _event(event: queries.LoggedEvent) -> LoggedEvent:
    return LoggedEvent(
        id=event.id,
        created_at=event.created_at,
        who=event.who,
        user=event.actor_id,
        action=event.action,
        object_type=event.object_type,
        object_id=event.object_id,
        text=event.text,
        details=dict(event.details),
    )
