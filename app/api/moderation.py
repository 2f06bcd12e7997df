"""Moderation of submissions by organisers, one by one or several at once."""

import uuid
from functools import partial
from typing import Any

from fastapi import APIRouter

from vocboard.app.accounts.models import User
from vocboard.app.api.problems import problem_responses
from vocboard.app.api.schemas.moderation import BulkAction, BulkOutcome, BulkOutcomes, OptionalReason, Reason
from vocboard.app.api.schemas.submissions import SubmissionDetails
from vocboard.app.api.submission_views import changed
from vocboard.app.challenges import service as challenges
from vocboard.app.database import Database
from vocboard.app.messaging.notifier import WorkerNotifier
from vocboard.app.moderation import bulk, submissions
from vocboard.app.submissions import queries
from vocboard.app.web.dependencies import DatabaseDep, NotifierDep, SettingsDep
from vocboard.app.web.identity import ApiIdentity, OrganisingUser
from vocboard.app.web.viewer import Identity

router = APIRouter(tags=["moderation"])

ERRORS = problem_responses(400, 401, 403, 404, 409, 422)


@router.post("/submissions/{submission_id}/disqualify", responses=ERRORS)
def disqualify(
    database: DatabaseDep,
    notifier: NotifierDep,
    settings: SettingsDep,
    user: OrganisingUser,
    identity: ApiIdentity,
    submission_id: uuid.UUID,
    given: Reason,
) -> SubmissionDetails:
    """Disqualify a submission: remove it from all leaderboards until it is reinstated. The owner is sent the reason."""
    change = partial(submissions.disqualify, site=settings.public_url)
    answer = _changed(database, notifier, change, submission_id, user, identity, reason=given.reason)
    notifier.mail_queued()
    return answer


@router.post("/submissions/{submission_id}/reinstate", responses=ERRORS)
def reinstate(
    database: DatabaseDep,
    notifier: NotifierDep,
    settings: SettingsDep,
    user: OrganisingUser,
    identity: ApiIdentity,
    submission_id: uuid.UUID,
    given: OptionalReason | None = None,
) -> SubmissionDetails:
    """Lift a disqualification: restore the previous state of the submission. Its owner is notified by email."""
    change = partial(submissions.reinstate, site=settings.public_url)
    reason = given.reason if given else ""
    answer = _changed(database, notifier, change, submission_id, user, identity, reason=reason)
    notifier.mail_queued()
    return answer


@router.post("/submissions/{submission_id}/fail", responses=ERRORS)
def fail(
    database: DatabaseDep,
    notifier: NotifierDep,
    user: OrganisingUser,
    identity: ApiIdentity,
    submission_id: uuid.UUID,
    given: Reason,
) -> SubmissionDetails:
    """Mark a submission as failed because of an error on the server. It no longer counts against the quota."""
    return _changed(database, notifier, submissions.fail, submission_id, user, identity, reason=given.reason)


@router.post("/submissions/{submission_id}/allow-publishing", responses=ERRORS)
def allow_publishing(
    database: DatabaseDep, notifier: NotifierDep, user: OrganisingUser, identity: ApiIdentity, submission_id: uuid.UUID
) -> SubmissionDetails:
    """Let a submission that an organiser has unpublished be published again."""
    return _changed(database, notifier, submissions.allow_publishing, submission_id, user, identity)


@router.post("/challenges/{slug}/submissions/actions", responses=ERRORS)
def act_on_submissions(
    database: DatabaseDep,
    notifier: NotifierDep,
    settings: SettingsDep,
    user: OrganisingUser,
    slug: str,
    given: BulkAction,
) -> BulkOutcomes:
    """Apply an action to several submissions. Each succeeds or is refused on its own."""
    with database.writing() as session:
        outcomes = bulk.act(
            session,
            challenge=challenges.get_organised(session, slug, user),
            user=user,
            action=given.action,
            submission_ids=given.submissions,
            reason=given.reason,
            site=settings.public_url,
        )
    notifier.jobs_added()
    notifier.mail_queued()
    return BulkOutcomes(outcomes=[BulkOutcome(submission=one.submission_id, refusal=one.refusal) for one in outcomes])


def _changed(
    database: Database,
    notifier: WorkerNotifier,
    change: Any,
    submission_id: uuid.UUID,
    user: User,
    identity: Identity,
    **given: str,
) -> SubmissionDetails:
    with database.writing() as session:
        change(session, submission_id=submission_id, user=user, **given)
        answer = changed(session, queries.get_for(session, submission_id, user), identity)
    notifier.jobs_added()  # one that is reinstated may wait for a worker
    return answer
