"""Schemas for the moderation of submissions."""

import uuid

from pydantic import BaseModel, ConfigDict, Field

from vocboard.app.moderation.bulk import MAX_SUBMISSIONS, Action
from vocboard.app.moderation.submissions import MAX_REASON_LENGTH


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


class BulkOutcome(BaseModel):
    """The outcome for one submission."""

    submission: uuid.UUID
    refusal: str | None = Field(description="Why the action was refused; null if it succeeded.")


class BulkOutcomes(BaseModel):
    """The outcome for each submission."""

    outcomes: list[BulkOutcome]
