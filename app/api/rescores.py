"""Re-scores: start, follow, read the report, apply, discard."""

import uuid
from dataclasses import asdict

from fastapi import Request, Response
from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.api.documentation import LOCATED
from vocboard.app.api.events import EventStream, event_responses, follow
from vocboard.app.api.paging import ItemPage, Paging
from vocboard.app.api.problems import problem_responses
from vocboard.app.api.router import ApiRoutes
from vocboard.app.api.schemas import rescores as schemas
from vocboard.app.api.schemas.submissions import SubmissionDetails
from vocboard.app.api.submission_views import changed
from vocboard.app.database import Database
from vocboard.app.errors import NotSignedInError
from vocboard.app.leaderboards.models import OPEN, RescoreState
from vocboard.app.rescores import queries, service
from vocboard.app.rescores.queries import attention
from vocboard.app.submissions import queries as submissions
from vocboard.app.web.dependencies import DatabaseDep, OpenStreamsDep
from vocboard.app.web.identity import ApiIdentity, OrganisingUser
from vocboard.app.web.organised import OrganisedByToken

router = ApiRoutes(tags=["re-scores"])


@router.get("/challenges/{slug}/rescores", responses=problem_responses(401, 403, 404))
def list_rescores(organised: OrganisedByToken, paging: Paging) -> ItemPage[schemas.RescoreSummary]:
    """List the re-scores of a challenge, newest first. For its organisers."""
    with organised.reading() as (session, challenge):
        return paging.of(queries.of_challenge(session, challenge), schemas.RescoreSummary.model_validate)


@router.post(
    "/challenges/{slug}/rescores",
    status_code=201,
    responses=problem_responses(401, 403, 404, 409) | LOCATED,
    tags=["challenges"],
)
def start_rescore(
    request: Request, organised: OrganisedByToken, response: Response, wanted: schemas.NewRescore
) -> schemas.Rescore:
    """Start a re-score: evaluate all submissions again, and report what would change.

    Leaderboards do not change until the re-score is applied. With an edition file, neither do the rules, unless there
    are no submissions: they then change immediately.
    """
    started = organised.change(service.start, **dict(wanted))
    response.headers["Location"] = request.app.url_path_for("get_rescore", rescore_id=started.id)
    return _read(organised.database, organised.user, started.id)


@router.get("/rescores/{rescore_id}", responses=problem_responses(401, 403, 404))
def get_rescore(database: DatabaseDep, user: OrganisingUser, rescore_id: uuid.UUID) -> schemas.Rescore:
    """Return a re-score: its progress and, when it is ready, what it would change."""
    return _read(database, user, rescore_id)


@router.post("/rescores/{rescore_id}/apply", responses=problem_responses(400, 401, 403, 404, 409, 422))
def apply_rescore(
    database: DatabaseDep,
    user: OrganisingUser,
    rescore_id: uuid.UUID,
    wanted: schemas.ApplyRescore | None = None,
) -> schemas.Rescore:
    """Apply a re-score: switch to its results in one transaction.

    A worker does this, and the response waits briefly for it. If `state` is still `ready`, poll `GET
    /rescores/{rescore_id}`.
    """
    with database.writing() as session:
        reason, confirm = (wanted.reason, wanted.confirm) if wanted else (None, None)
        service.request_apply(session, rescore_id=rescore_id, user=user, reason=reason, confirm=confirm)
    service.wait_until_applied(database, rescore_id)
    return _read(database, user, rescore_id)


@router.post("/rescores/{rescore_id}/discard", responses=problem_responses(401, 403, 404, 409))
def discard_rescore(database: DatabaseDep, user: OrganisingUser, rescore_id: uuid.UUID) -> schemas.Rescore:
    """Discard a re-score, or cancel a running one. Leaderboards do not change."""
    with database.writing() as session:
        service.discard(session, rescore_id=rescore_id, user=user)
    return _read(database, user, rescore_id)


@router.get(
    "/rescores/{rescore_id}/events", response_class=EventStream, responses=event_responses(schemas.RescoreEvent)
)
async def rescore_events(
    streams: OpenStreamsDep, database: DatabaseDep, user: OrganisingUser, identity: ApiIdentity, rescore_id: uuid.UUID
) -> EventStream:
    """Stream events named `progress`, until the re-score is ready or has ended."""

    def read(session: Session, viewer: User | None) -> schemas.RescoreEvent:
        if viewer is None:
            raise NotSignedInError("You have been signed out.")
        rescore = queries.get_organised(session, rescore_id, viewer)
        return schemas.RescoreEvent(
            state=rescore.state,
            apply_requested=rescore.apply_requested_at is not None,
            **asdict(queries.progress(session, rescore)),
        )

    return await follow(streams, database, identity, read, name="progress", is_final=_is_final, subject=user.id)


@router.post(
    "/submissions/{submission_id}/evaluate-again",
    status_code=202,
    responses=problem_responses(401, 403, 404, 409) | {202: LOCATED[201]},
    tags=["submissions"],
)
def evaluate_again(
    request: Request,
    database: DatabaseDep,
    response: Response,
    user: OrganisingUser,
    identity: ApiIdentity,
    submission_id: uuid.UUID,
    wanted: schemas.EvaluateAgain | None = None,
) -> SubmissionDetails:
    """Evaluate a submission again.

    A failed submission is queued. A scored one keeps its result until the new one is applied; `Location` is the
    re-score to follow and to apply.
    """
    with database.writing() as session:
        submission, rescore = service.evaluate_again(
            session, submission_id=submission_id, user=user, reason=wanted.reason if wanted else ""
        )
        answer = changed(session, submissions.get_for(session, submission.id, user), identity)
    address = request.app.url_path_for
    response.headers["Location"] = (
        address("get_submission", submission_id=submission_id)
        if rescore is None
        else address("get_rescore", rescore_id=rescore.id)
    )
    return answer


def _read(database: Database, user: User, rescore_id: uuid.UUID) -> schemas.Rescore:
    with database.reading() as session:
        rescore = queries.get_organised(session, rescore_id, user)
        report = rescore.report or {}
        return schemas.Rescore.of(
            rescore,
            challenge=rescore.challenge.slug,
            ground_truth_version=rescore.ground_truth_version.number,
            submission=rescore.submission_id,
            apply_requested=rescore.apply_requested_at is not None,
            attention=list(attention(rescore)),
            **asdict(queries.progress(session, rescore)),
            **{name: report.get(name) for name in ("images", "scored", "lost")},
            **{name: report.get(name, []) for name in ("competitions", "changes", "failures")},
        )


def _is_final(event: schemas.RescoreEvent) -> bool:
    return event.state not in OPEN or (event.state is RescoreState.READY and not event.apply_requested)
