"""Moderation of submissions by organisers, one by one or several at once."""

import uuid

from pydantic import BaseModel, Field

from vocboard.app.api.problems import problem_responses
from vocboard.app.api.router import ApiRoutes
from vocboard.app.api.schemas.submissions import SubmissionDetails
from vocboard.app.api.schemas.values import FromObject, Given
from vocboard.app.api.submission_views import ModeratedSubmission
from vocboard.app.organising import moderation as bulk
from vocboard.app.organising.moderation import MAX_REASON_LENGTH, MAX_SUBMISSIONS, Action
from vocboard.app.web.organised import OrganisedByToken

router = ApiRoutes(tags=["moderation"])

ERRORS = problem_responses(400, 401, 403, 404, 409, 422)


class DecisionReason(Given):
    """The reason for a decision about a submission; shown to its owner."""

    reason: str = Field(max_length=MAX_REASON_LENGTH)


class OptionalReason(Given):
    """The reason for a decision about a submission, if there is one."""

    reason: str = Field("", max_length=MAX_REASON_LENGTH)


class BulkAction(Given):
    """An action on several submissions."""

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


@router.post("/submissions/{submission_id}/disqualify", responses=ERRORS)
def disqualify(submission: ModeratedSubmission, given: DecisionReason) -> SubmissionDetails:
    """Disqualify a submission: remove it from all leaderboards until it is reinstated. The owner is sent the reason."""
    return submission.change(bulk.disqualify, site=submission.services.settings.public_url, **dict(given))


@router.post("/submissions/{submission_id}/reinstate", responses=ERRORS)
def reinstate(submission: ModeratedSubmission, given: OptionalReason | None = None) -> SubmissionDetails:
    """Lift a disqualification: restore the previous state of the submission. Its owner is notified by email."""
    reason, site = given.reason if given else "", submission.services.settings.public_url
    return submission.change(bulk.reinstate, site=site, reason=reason)


@router.post("/submissions/{submission_id}/fail", responses=ERRORS)
def fail(submission: ModeratedSubmission, given: DecisionReason) -> SubmissionDetails:
    """Mark a submission as failed because of an error on the server. It no longer counts against the quota."""
    return submission.change(bulk.fail, reason=given.reason)


@router.post("/submissions/{submission_id}/allow-publishing", responses=ERRORS)
def allow_publishing(submission: ModeratedSubmission) -> SubmissionDetails:
    """Let a submission that an organiser has unpublished be published again."""
    return submission.change(bulk.allow_publishing)


@router.post("/challenges/{slug}/submissions/actions", responses=ERRORS)
def act_on_submissions(organised: OrganisedByToken, given: BulkAction) -> BulkOutcomes:
    """Apply an action to several submissions. Each succeeds or is refused on its own."""
    outcomes = organised.change(
        bulk.act, action=given.action, submission_ids=given.submissions, reason=given.reason, site=organised.site
    )
    return BulkOutcomes(outcomes=[BulkOutcome.model_validate(one) for one in outcomes])
