"""Organisers' views of a whole challenge: submissions, entrants and bans, queue, audit log."""

import uuid
from typing import Annotated, Any

from fastapi import Query
from pydantic import AliasPath, Field
from starlette.responses import StreamingResponse

from vocboard.app.api.documentation import file_responses
from vocboard.app.api.paging import ItemPage, Paging, PagingByTime
from vocboard.app.api.problems import problem_responses
from vocboard.app.api.router import ApiRoutes
from vocboard.app.api.schemas.submissions import SubmissionSummary
from vocboard.app.api.schemas.values import CompetitionKey, Count, Fraction, FromObject, Given, Instant, Sha256
from vocboard.app.api.submission_views import organisers_summary
from vocboard.app.challenges import bans as banned
from vocboard.app.forms import FilterInstant
from vocboard.app.organising import audit_log as export
from vocboard.app.organising import bans
from vocboard.app.organising import entrants as entrants_of
from vocboard.app.organising import queue as queue_of
from vocboard.app.organising import submissions as overview
from vocboard.app.organising.moderation import MAX_REASON_LENGTH
from vocboard.app.organising.submissions import Filters, Flag, Row, SubmissionSort
from vocboard.app.submissions.filters import SubmissionKind
from vocboard.app.web.organised import OrganisedByToken

router = ApiRoutes("/challenges/{slug}", tags=["overview"])

READING = problem_responses(401, 403, 404)
CHANGING = problem_responses(400, 401, 403, 404, 409, 422)

Search = Annotated[
    str,
    Query(
        max_length=overview.MAX_SEARCH_LENGTH,
        description="Part of a name, an affiliation, an email address, a hash or an id.",
    ),
]


class OrganisersSubmission(SubmissionSummary):
    """A submission in the organisers' list."""

    user: uuid.UUID
    email: str
    means: dict[str, Fraction] = Field(
        description="Mean of the primary metric, by competition; empty until the submission is scored."
    )
    warnings: Count = Field(description="Number of warnings of the validation.")
    archive_sha256: Sha256
    held_back: bool = Field(description="Whether an organiser has unpublished it, so that it cannot be published.")
    moderation_reason: str | None = Field(description="Why organisers have disqualified or unpublished it.")
    has_copies: bool = Field(description="Whether another person has submitted the same archive or the same results.")


class Progress(FromObject):
    """The scored submissions of one method to one competition in one phase."""

    phase: str = Field(description="Key of the phase.")
    method: str
    competition: CompetitionKey
    scored: Count = Field(description="Number of scored submissions.")
    first: Fraction = Field(description="Mean of the first submission, rounded to the challenge's decimals.")
    best: Fraction = Field(description="Best mean, rounded to the challenge's decimals.")
    improvement: float = Field(description="By how much the best mean is better than the first.")


class BanRequest(Given):
    """A request to ban a person from a challenge."""

    user: uuid.UUID = Field(description="Id of the user, who has submitted to the challenge.")
    reason: str = Field(max_length=MAX_REASON_LENGTH, description="Why the person is banned; shown to the person.")
    results: bans.Results = Field(description="What happens to the person's published results.")


class Banned(FromObject):
    """A ban."""

    id: uuid.UUID
    user: uuid.UUID = Field(validation_alias="user_id")
    name: str = Field(validation_alias=AliasPath("user", "name"))
    reason: str
    created_at: Instant


class Entrant(FromObject):
    """A person who has submitted to the challenge."""

    user: uuid.UUID = Field(validation_alias=AliasPath("user", "id"))
    name: str = Field(validation_alias=AliasPath("user", "name"))
    email: str = Field(validation_alias=AliasPath("user", "email"))
    affiliation: str = Field(validation_alias=AliasPath("user", "affiliation"))
    submissions: Count
    counted: Count = Field(
        validation_alias=AliasPath("quota", "counted"),
        description="Number of submissions that count against the quota, now or earlier: neither rehearsals nor "
        "submissions whose quota was returned.",
    )
    counted_now: Count = Field(
        validation_alias=AliasPath("quota", "counted_now"),
        description="Number of submissions that count against the quota of their phase now.",
    )
    published: Count
    failed: Count
    disqualified: Count
    latest_at: Instant
    ban: Banned | None = Field(description="The ban of the person from this challenge; null if there is none.")
    progress: list[Progress] = Field(description="Progress of each of the person's methods, by phase.")


class Worker(FromObject):
    """One kind of worker."""

    kind: str
    looked_at: Instant = Field(description="When a worker of this kind last polled for work.")
    is_silent: bool = Field(description="Whether no worker of this kind has polled recently.")


class QueueHealth(FromObject):
    """The queue, running evaluations and worker health."""

    waiting: Count = Field(
        validation_alias="own_waiting", description="Number of queued submissions to this challenge."
    )
    running: Count = Field(
        validation_alias="own_running", description="Number of submissions to this challenge that are being evaluated."
    )
    waiting_on_server: Count = Field(
        validation_alias="waiting", description="Number of queued submissions to any challenge."
    )
    running_on_server: Count = Field(
        validation_alias="running", description="Number of submissions to any challenge that are being evaluated."
    )
    waiting_since: Instant | None = Field(
        description="When the oldest queued submission to this challenge was queued; null if none is queued."
    )
    scored_last_hour: Count = Field(
        validation_alias="scored_recently", description="Number of evaluations for this challenge in the last hour."
    )
    failed_last_day: Count = Field(
        validation_alias="failed_lately",
        description="Number of submissions to this challenge that failed in the last 24 hours.",
    )
    mean_seconds: float | None = Field(
        description="Mean duration of this challenge's evaluations in the last 24 hours; null if there were none."
    )
    workers: list[Worker]


class LoggedEvent(FromObject):
    """An event of the audit log."""

    id: uuid.UUID
    created_at: Instant
    who: str = Field(description="Name of the person, or a description of the operator or the server.")
    user: uuid.UUID | None = Field(
        validation_alias="actor_id",
        description="Id of the person; null for operators at the command line and the server itself.",
    )
    action: str = Field(examples=["submission.disqualify"])
    object_type: str
    object_id: uuid.UUID | None
    text: str = Field(description="The event as a sentence.")
    details: dict[str, Any]


@router.get("/submissions", responses=READING)
def list_challenge_submissions(
    organised: OrganisedByToken,
    paging: PagingByTime,
    *,
    q: Search = "",
    state: SubmissionKind | None = None,
    competition: str = "",
    phase: Annotated[str, Query(description="Key of a phase.")] = "",
    person: uuid.UUID | None = None,
    flag: Flag | None = None,
    since: FilterInstant | None = None,
    until: FilterInstant | None = None,
    sort: SubmissionSort = SubmissionSort.UPLOADED,
    descending: Annotated[
        bool | None,
        Query(
            description="Whether to sort in descending order: latest or best first. Default: true for dates, scores "
            "and warnings, false for names and states."
        ),
    ] = None,
) -> ItemPage[OrganisersSubmission]:
    """Search, filter and sort all submissions to a challenge. For its organisers."""
    filters = Filters(q, state, competition, phase, person, flag, sort, descending, since, until)
    with organised.reading() as (session, challenge):
        found = overview.page_of_submissions(session, challenge=challenge, filters=filters, **paging.chosen)
        return paging.page_of(found, _submission)


@router.get("/entrants", responses=READING)
def list_entrants(
    organised: OrganisedByToken, paging: Paging, sort: entrants_of.EntrantSort = entrants_of.EntrantSort.LATEST
) -> ItemPage[Entrant]:
    """List the people who have submitted, with their use of the quota and their progress."""
    with organised.reading() as (session, challenge):
        found = entrants_of.page_of_entrants(session, challenge=challenge, sort=sort, **paging.chosen)
        return paging.page_of(found, Entrant.model_validate)


@router.get("/queue", responses=READING)
def get_queue(organised: OrganisedByToken) -> QueueHealth:
    """Return the queue, running evaluations and worker health."""
    with organised.reading() as (session, challenge):
        return QueueHealth.model_validate(queue_of.health(session, challenge))


@router.get("/bans", responses=READING)
def list_bans(organised: OrganisedByToken, paging: Paging) -> ItemPage[Banned]:
    """List the challenge's bans, newest first."""
    with organised.reading() as (session, challenge):
        return paging.of(banned.bans_of(session, challenge.id), Banned.model_validate)


@router.post("/bans", status_code=201, responses=CHANGING)
def ban(organised: OrganisedByToken, given: BanRequest) -> Banned:
    """Ban an entrant from submitting and publishing, and choose what happens to the published results.

    The person is notified by email.
    """
    with organised.writing() as (session, challenge):
        person = bans.entrant(session, challenge=challenge, user_id=given.user)
        found = bans.ban(
            session,
            challenge=challenge,
            person=person,
            user=organised.user,
            reason=given.reason,
            results=given.results,
            site=organised.site,
        )
        return Banned(id=found.id, user=person.id, name=person.name, reason=found.reason, created_at=found.created_at)


@router.delete("/bans/{user_id}", status_code=204, responses=CHANGING)
def lift_ban(organised: OrganisedByToken, user_id: uuid.UUID) -> None:
    """Lift a ban. What it did to results is not undone. The person is notified by email."""
    with organised.writing() as (session, challenge):
        person = bans.entrant(session, challenge=challenge, user_id=user_id)
        bans.lift_ban(session, challenge=challenge, person=person, user=organised.user, site=organised.site)


@router.get("/log", responses=READING)
def get_log(
    organised: OrganisedByToken,
    paging: PagingByTime,
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
) -> ItemPage[LoggedEvent]:
    """Return the audit log of a challenge, newest event first."""
    filters = _log_filters(who, action, about, since, until)
    with organised.reading() as (session, challenge):
        found = export.page_of_log(session, challenge_id=challenge.id, filters=filters, **paging.chosen)
    return paging.page_of(found, LoggedEvent.model_validate)


@router.get("/log.csv", response_class=StreamingResponse, responses=READING | file_responses("text/csv"))
def get_log_file(
    organised: OrganisedByToken,
    *,
    who: str = "",
    action: str = "",
    about: uuid.UUID | None = None,
    since: FilterInstant | None = None,
    until: FilterInstant | None = None,
) -> StreamingResponse:
    """Return the audit log of a challenge as a CSV file, oldest event first."""
    filters = _log_filters(who, action, about, since, until)
    pieces = export.as_csv(organised.database, challenge_id=organised.load().id, filters=filters)
    headers = {"Content-Disposition": f'attachment; filename="{organised.slug}-log.csv"'}
    return StreamingResponse(pieces, media_type="text/csv", headers=headers)


def _log_filters(
    who: str, action: str, about: uuid.UUID | None, since: FilterInstant | None, until: FilterInstant | None
) -> export.Filters:
    return export.Filters(who, "".join(filter(str.isprintable, action)), about, since, until)


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
