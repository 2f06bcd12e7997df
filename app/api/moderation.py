"""Moderation of submissions by organisers, one by one or several at once."""

import uuid
from collections.abc import Callable
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, ConfigDict, Field

from vocboard.app.api.problems import problem_responses
from vocboard.app.api.schemas.submissions import SubmissionDetails
from vocboard.app.api.schemas.values import FromObject
from vocboard.app.api.submission_views import changed
from vocboard.app.moderation import bulk, submissions
from vocboard.app.moderation.bulk import MAX_SUBMISSIONS, Action
from vocboard.app.moderation.submissions import MAX_REASON_LENGTH
from vocboard.app.submissions import queries
from vocboard.app.submissions.models import Submission
from vocboard.app.web.dependencies import services_of
from vocboard.app.web.identity import ApiIdentity, OrganisingUser
from vocboard.app.web.organised import OrganisedByToken

router = APIRouter(tags=["moderation"])

ERRORS = problem_responses(400, 401, 403, 404, 409, 422)


class Reason(BaseModel):
    """The reason for a decision about a submission; shown to its owner."""

    model_config = ConfigDict(extra="forbid")

    reason: str = Field(max_length=MAX_REASON_LENGTH)


class OptionalReason(BaseModel):
    """The reason for a decision about a submission, if there is one."""

    model_config = ConfigDict(extra="forbid")

    reason: str = Field("", max_length=MAX_REASON_LENGTH)


class BulkAction(BaseModel):
    """An action on several submissions."""

    model_config = ConfigDict(extra="forbid")

    action: Action
    submissions: list[uuid.UUID] = Field(
        min_length=1, max_length=MAX_SUBMISSIONS, description="Ids of the submissions."
    )
    reason: str = Field(
        "", max_length=MAX_REASON_LENGTH, description="Reason for the action. Required for `disqualify` and `fail`."
    )


class BulkOutcome(FromObject):
    """The outcome for one submission."""

    submission: uuid.UUID = Field(validation_alias="submission_id")
    refusal: str | None = Field(description="Why the action was refused; null if it succeeded.")


class BulkOutcomes(BaseModel):
    """The outcome for each submission."""

    outcomes: list[BulkOutcome]


class Moderator:
    """Changes one submission for an organiser of its challenge."""

    def __init__(self, request: Request, user: OrganisingUser, identity: ApiIdentity, submission_id: uuid.UUID) -> None:
        services = services_of(request)
        self._database, self._notifier = services.database, services.notifier
        self._user, self._identity, self._submission_id = user, identity, submission_id
        self.site = services.settings.public_url

    def change(self, change: Callable[..., Submission], **given: str) -> SubmissionDetails:
        """Call a service function; workers and mail are then notified."""
        with self._database.writing() as session:
            change(session, submission_id=self._submission_id, user=self._user, **given)
            found = queries.get_for(session, self._submission_id, self._user)
            answer = changed(session, found, self._identity)
        self._notifier.jobs_added()  # one that is reinstated may wait for a worker
        self._notifier.mail_queued()
        return answer


ModeratorDep = Annotated[Moderator, Depends()]


@router.post("/submissions/{submission_id}/disqualify", responses=ERRORS)
def disqualify(moderator: ModeratorDep, given: Reason) -> SubmissionDetails:
    """Disqualify a submission: remove it from all leaderboards until it is reinstated. The owner is sent the reason."""
    return moderator.change(partial(submissions.disqualify, site=moderator.site), reason=given.reason)


@router.post("/submissions/{submission_id}/reinstate", responses=ERRORS)
def reinstate(moderator: ModeratorDep, given: OptionalReason | None = None) -> SubmissionDetails:
    """Lift a disqualification: restore the previous state of the submission. Its owner is notified by email."""
    reason = given.reason if given else ""
    return moderator.change(partial(submissions.reinstate, site=moderator.site), reason=reason)


@router.post("/submissions/{submission_id}/fail", responses=ERRORS)
def fail(moderator: ModeratorDep, given: Reason) -> SubmissionDetails:
    """Mark a submission as failed because of an error on the server. It no longer counts against the quota."""
    return moderator.change(submissions.fail, reason=given.reason)


@router.post("/submissions/{submission_id}/allow-publishing", responses=ERRORS)
def allow_publishing(moderator: ModeratorDep) -> SubmissionDetails:
    """Let a submission that an organiser has unpublished be published again."""
    return moderator.change(submissions.allow_publishing)


@router.post("/challenges/{slug}/submissions/actions", responses=ERRORS)
def act_on_submissions(organised: OrganisedByToken, given: BulkAction) -> BulkOutcomes:
    """Apply an action to several submissions. Each succeeds or is refused on its own."""
    with organised.writing() as (session, challenge):
        outcomes = bulk.act(
            session,
            challenge=challenge,
            user=organised.user,
            action=given.action,
            submission_ids=given.submissions,
            reason=given.reason,
            site=organised.site,
        )
    organised.notifier.jobs_added()
    organised.notifier.mail_queued()
    return BulkOutcomes(outcomes=[BulkOutcome.model_validate(one) for one in outcomes])
