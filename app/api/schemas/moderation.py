"""What the API takes and returns when organisers moderate submissions."""

import uuid

from pydantic import BaseModel, ConfigDict, Field

from vocboard.app.moderation.bulk import MAX_SUBMISSIONS, Action
from vocboard.app.moderation.submissions import MAX_REASON_LENGTH


class Reason(BaseModel):
    """Why an organiser does something; shown to the owner of the submission."""

    model_config = ConfigDict(extra="forbid")

    reason: str = Field(max_length=MAX_REASON_LENGTH)


class OptionalReason(BaseModel):
    """Why an organiser does something, if a reason is given."""

    model_config = ConfigDict(extra="forbid")

    reason: str = Field("", max_length=MAX_REASON_LENGTH)


class BulkAction(BaseModel):
    """An action on several submissions."""

    model_config = ConfigDict(extra="forbid")

    action: Action
    submissions: list[uuid.UUID] = Field(min_length=1, max_length=MAX_SUBMISSIONS)
    reason: str = Field("", max_length=MAX_REASON_LENGTH, description="Required to disqualify and to fail.")


class BulkOutcome(BaseModel):
    """The outcome for one submission."""

    submission: uuid.UUID
    refusal: str | None = Field(description="Why nothing was done; null if it was.")


class BulkOutcomes(BaseModel):
    """The outcome for each submission."""

    outcomes: list[BulkOutcome]
