"""Re-scores: start, follow, read the report, apply, discard."""

import uuid
from functools import partial

from fastapi import APIRouter, Request, Response
from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.api.event_streams import EventStream, follow
from vocboard.app.api.paging import DEFAULT_PER_PAGE, FIRST_PAGE, ItemPage, PageNumber, PerPage, item_page, page_of
from vocboard.app.api.problems import problem_responses
from vocboard.app.api.schemas.rescores import (
    ApplyRescore,
    EvaluateAgain,
    NewRescore,
    Rescore,
    RescoreEvent,
    RescoreSummary,
    RuleChange,
)
from vocboard.app.api.schemas.submissions import SubmissionDetails
from vocboard.app.api.submission_views import changed
from vocboard.app.challenges import service as challenges
from vocboard.app.database import Database
from vocboard.app.errors import NotSignedInError
from vocboard.app.rescores import models, queries, service
from vocboard.app.rescores.attention import attention
from vocboard.app.rescores.models import OPEN, RescoreState
from vocboard.app.submissions import queries as submissions
from vocboard.app.web.dependencies import DatabaseDep, NotifierDep, OpenStreamsDep
from vocboard.app.web.identity import ApiIdentity, OrganisingUser
from vocboard.app.web.viewer import Identity, viewer_now

router = APIRouter(tags=["re-scores"])

EVENT = "progress"


@router.get("/challenges/{slug}/rescores", responses=problem_responses(401, 403, 404))
def list_rescores(
    database: DatabaseDep,
    user: OrganisingUser,
    slug: str,
    page: PageNumber = FIRST_PAGE,
    per_page: PerPage = DEFAULT_PER_PAGE,
) -> ItemPage[RescoreSummary]:
    """List the re-scores of a challenge, newest first. For its organisers."""
    with database.reading() as session:
        challenge = challenges.get_organised(session, slug, user)
        found = queries.of_challenge(session, challenge)
    return item_page(page_of(found, page=page, per_page=per_page), _summary)


@router.post(
    "/challenges/{slug}/rescores",
    status_code=201,
    responses=problem_responses(400, 401, 403, 404, 409, 422),
    tags=["challenges"],
)
def start_rescore(
    request: Request,
    database: DatabaseDep,
    notifier: NotifierDep,
    response: Response,
    user: OrganisingUser,
    slug: str,
    wanted: NewRescore,
) -> Rescore:
    """Start a re-score: evaluate all submissions again, and report what would change.

    Leaderboards do not change until the re-score is applied. With an edition file, neither do the rules, unless there
    are no submissions: they then change immediately.
    """
    with database.writing() as session:
        challenge = challenges.get_organised(session, slug, user)
        started = service.start(
            session,
            challenge=challenge,
            user=user,
            reason=wanted.reason,
            ground_truth_version=wanted.ground_truth_version,
            edition_file=wanted.edition_file,
            confirm_warnings=wanted.confirm_warnings,
        )
    notifier.jobs_added()
    response.headers["Location"] = _path(request, started.id)
    return _read(database, user, started.id)


@router.get("/rescores/{rescore_id}", responses=problem_responses(401, 403, 404))
def get_rescore(database: DatabaseDep, user: OrganisingUser, rescore_id: uuid.UUID) -> Rescore:
    """Return a re-score: its progress and, when it is ready, what it would change."""
    return _read(database, user, rescore_id)


@router.post("/rescores/{rescore_id}/apply", responses=problem_responses(400, 401, 403, 404, 409, 422))
def apply_rescore(
    database: DatabaseDep,
    notifier: NotifierDep,
    user: OrganisingUser,
    rescore_id: uuid.UUID,
    wanted: ApplyRescore | None = None,
) -> Rescore:
    """Apply a re-score: switch to its results in one transaction.

    A worker does this, and the response waits briefly for it. If `state` is still `ready`, poll `GET
    /rescores/{rescore_id}`.
    """
    with database.writing() as session:
        reason, confirm = (wanted.reason, wanted.confirm) if wanted else (None, None)
        service.request_apply(session, rescore_id=rescore_id, user=user, reason=reason, confirm=confirm)
    notifier.jobs_added()
    service.wait_until_applied(database, rescore_id)
    return _read(database, user, rescore_id)


@router.post("/rescores/{rescore_id}/discard", responses=problem_responses(401, 403, 404, 409))
def discard_rescore(database: DatabaseDep, user: OrganisingUser, rescore_id: uuid.UUID) -> Rescore:
    """Discard a re-score, or cancel a running one. Leaderboards do not change."""
    with database.writing() as session:
        service.discard(session, rescore_id=rescore_id, user=user)
    return _read(database, user, rescore_id)


@router.get(
    "/rescores/{rescore_id}/events",
    response_class=EventStream,
    responses=problem_responses(401, 403, 404, 429)
    | {200: {"model": RescoreEvent, "description": "The data of each event."}},
)
async def rescore_events(
    streams: OpenStreamsDep, database: DatabaseDep, user: OrganisingUser, identity: ApiIdentity, rescore_id: uuid.UUID
) -> EventStream:
    """Stream events named `progress`, until the re-score is ready or has ended."""
    read_state = partial(_read_state, database, rescore_id, identity)
    return await follow(streams, read_state, name=EVENT, is_final=_is_final, subject=user.id)


@router.post(
    "/submissions/{submission_id}/evaluate-again",
    status_code=202,
    responses=problem_responses(400, 401, 403, 404, 409),
    tags=["submissions"],
)
def evaluate_again(
    request: Request,
    database: DatabaseDep,
    notifier: NotifierDep,
    response: Response,
    user: OrganisingUser,
    identity: ApiIdentity,
    submission_id: uuid.UUID,
    wanted: EvaluateAgain | None = None,
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
    if rescore is None:
        notifier.jobs_added()
        response.headers["Location"] = request.app.url_path_for("get_submission", submission_id=submission_id)
    else:
        notifier.jobs_added()
        response.headers["Location"] = _path(request, rescore.id)
    return answer


def _read(database: Database, user: User, rescore_id: uuid.UUID) -> Rescore:
    with database.reading() as session:
        return _details(session, queries.get_organised(session, rescore_id, user))


def _details(session: Session, rescore: models.Rescore) -> Rescore:
    progress = queries.progress(session, rescore)
    report = rescore.report or {}
    return Rescore(
        id=rescore.id,
        challenge=rescore.challenge.slug,
        ground_truth_version=rescore.ground_truth_version.number,
        edition_version=rescore.edition_version,
        edition_changes=None
        if rescore.edition_changes is None
        else [RuleChange(**change) for change in rescore.edition_changes],
        evaluator_version=rescore.evaluator_version,
        submission=rescore.submission_id,
        reason=rescore.reason,
        state=rescore.state,
        apply_requested=rescore.apply_requested_at is not None,
        done=progress.done,
        total=progress.total,
        created_at=rescore.created_at,
        finished_at=rescore.finished_at,
        failure=rescore.failure,
        attention=list(attention(rescore)),
        images=report.get("images"),
        scored=report.get("scored"),
        lost=report.get("lost"),
        competitions=report.get("competitions", []),
        changes=report.get("changes", []),
        failures=report.get("failures", []),
    )


def _summary(rescore: models.Rescore) -> RescoreSummary:
    return RescoreSummary(
        id=rescore.id,
        ground_truth_version=rescore.ground_truth_version.number,
        edition_version=rescore.edition_version,
        changes_edition=rescore.changes_edition,
        evaluator_version=rescore.evaluator_version,
        submission=rescore.submission_id,
        reason=rescore.reason,
        state=rescore.state,
        created_at=rescore.created_at,
        finished_at=rescore.finished_at,
    )


def _read_state(database: Database, rescore_id: uuid.UUID, identity: Identity) -> RescoreEvent:
    with database.reading() as session:
        viewer = viewer_now(session, identity)
        if viewer is None:
            raise NotSignedInError("You have been signed out.")
        rescore = queries.get_organised(session, rescore_id, viewer)
        progress = queries.progress(session, rescore)
        return RescoreEvent(
            state=rescore.state,
            apply_requested=rescore.apply_requested_at is not None,
            done=progress.done,
            total=progress.total,
        )


def _is_final(event: RescoreEvent) -> bool:
    return event.state not in OPEN or (event.state is RescoreState.READY and not event.apply_requested)


def _path(request: Request, rescore_id: uuid.UUID) -> str:
    path: str = request.app.url_path_for("get_rescore", rescore_id=rescore_id)
    return path
