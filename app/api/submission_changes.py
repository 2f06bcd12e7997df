"""Changes to submissions: publish, withdraw, create an anonymous link."""

import uuid
from collections.abc import Callable
from functools import partial

from fastapi import APIRouter

from vocboard.app.accounts.models import User
from vocboard.app.api.problems import problem_responses
from vocboard.app.api.schemas.submissions import AnonymousLink, Publishing, SubmissionDetails, Unpublishing
from vocboard.app.api.submission_views import changed
from vocboard.app.database import Database
from vocboard.app.moderation import submissions as moderation
from vocboard.app.submissions import publishing, queries
from vocboard.app.submissions import service as submissions
from vocboard.app.submissions.models import Submission
from vocboard.app.web.dependencies import DatabaseDep, SettingsDep
from vocboard.app.web.identity import ApiIdentity, SubmittingUser
from vocboard.app.web.viewer import Identity

router = APIRouter(tags=["submissions"])


@router.post("/submissions/{submission_id}/publish", responses=problem_responses(400, 401, 403, 404, 409, 422))
def publish(
    database: DatabaseDep,
    user: SubmittingUser,
    identity: ApiIdentity,
    submission_id: uuid.UUID,
    given: Publishing | None = None,
) -> SubmissionDetails:
    """Publish your own scored submission on the leaderboards of its competitions, or of some of them.

    With `replace`, it replaces the published results of the same method there, in one transaction.
    """
    change = partial(publishing.publish, **given.model_dump()) if given else publishing.publish
    return _changed(database, change, submission_id, user, identity)


@router.post("/submissions/{submission_id}/unpublish", responses=problem_responses(400, 401, 403, 404, 409, 422))
def unpublish(
    database: DatabaseDep,
    user: SubmittingUser,
    identity: ApiIdentity,
    submission_id: uuid.UUID,
    given: Unpublishing | None = None,
) -> SubmissionDetails:
    """Remove a submission from the leaderboards.

    If an organiser does this, it cannot be published again until an organiser calls `allow-publishing`.
    """
    change = partial(moderation.unpublish, **given.model_dump()) if given else moderation.unpublish
    return _changed(database, change, submission_id, user, identity)


@router.post("/submissions/{submission_id}/withdraw", responses=problem_responses(401, 403, 404, 409))
def withdraw(
    database: DatabaseDep, user: SubmittingUser, identity: ApiIdentity, submission_id: uuid.UUID
) -> SubmissionDetails:
    """Withdraw a submission permanently. If it is still queued, it no longer counts against the quota."""
    return _changed(database, submissions.withdraw, submission_id, user, identity)


@router.post(
    "/submissions/{submission_id}/anonymous-link",
    status_code=201,
    responses=problem_responses(401, 403, 404, 409),
)
def create_anonymous_link(
    database: DatabaseDep, settings: SettingsDep, user: SubmittingUser, submission_id: uuid.UUID
) -> AnonymousLink:
    """Create a URL that shows a submission's result without names, for double-blind review."""
    with database.writing() as session:
        token = submissions.create_anonymous_link(session, submission_id=submission_id, user=user)
    return AnonymousLink(url=submissions.anonymous_address(settings.public_url, token))


@router.delete(
    "/submissions/{submission_id}/anonymous-link", status_code=204, responses=problem_responses(401, 403, 404)
)
def revoke_anonymous_link(database: DatabaseDep, user: SubmittingUser, submission_id: uuid.UUID) -> None:
    """Revoke the anonymous link of a submission. It no longer works."""
    with database.writing() as session:
        submissions.revoke_anonymous_link(session, submission_id=submission_id, user=user)


def _changed(
    database: Database,
    change: Callable[..., Submission],
    submission_id: uuid.UUID,
    user: User,
    identity: Identity,
) -> SubmissionDetails:
    with database.writing() as session:
        change(session, submission_id=submission_id, user=user)
        return changed(session, queries.get_for(session, submission_id, user), identity)
