"""Schemas for the organisers' overview of a challenge."""

import uuid
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from vocboard.app.api.schemas.submissions import SubmissionSummary
from vocboard.app.api.schemas.values import Fraction, Instant
from vocboard.app.moderation.bans import Results
from vocboard.app.moderation.submissions import MAX_REASON_LENGTH


class OrganisersSubmission(SubmissionSummary):
    """A submission in the organisers' list."""

    user: uuid.UUID
    email: str
    means: dict[str, Fraction] = Field(
        description="Mean of the primary metric, by competition; empty until the submission is scored."
    )
    warnings: int = Field(description="Number of warnings of the validation.")
    archive_sha256: str
    held_back: bool = Field(description="Whether an organiser has unpublished it, so that it cannot be published.")
    moderation_reason: str | None = Field(description="Why organisers have disqualified or unpublished it.")
    has_copies: bool = Field(description="Whether another person has submitted the same archive or the same results.")


class Progress(BaseModel):
    """The scored submissions of one method to one competition in one phase."""

    phase: str = Field(description="Key of the phase.")
    method: str
    competition: str
    scored: int = Field(description="Number of scored submissions.")
    first: Fraction = Field(description="Mean of the first submission, rounded to the challenge's decimals.")
    best: Fraction = Field(description="Best mean, rounded to the challenge's decimals.")
    improvement: float = Field(description="By how much the best mean is better than the first.")


class BanRequest(BaseModel):
    """A request to ban a person from a challenge."""

    model_config = ConfigDict(extra="forbid")

    user: uuid.UUID = Field(description="Id of the user, who has submitted to the challenge.")
    reason: str = Field(max_length=MAX_REASON_LENGTH, description="Why the person is banned; shown to the person.")
    results: Results = Field(description="What happens to the person's published results.")


class Banned(BaseModel):
    """A ban."""

    id: uuid.UUID
    user: uuid.UUID
    name: str
    reason: str
    created_at: Instant


class Entrant(BaseModel):
    """A person who has submitted to the challenge."""

    user: uuid.UUID
    name: str
    email: str
    affiliation: str
    submissions: int
    counted: int = Field(
        description="Number of submissions that count against the quota, now or earlier: neither rehearsals nor "
        "submissions whose quota was returned."
    )
    counted_now: int = Field(description="Number of submissions that count against the quota of their phase now.")
    published: int
    failed: int
    disqualified: int
    latest_at: Instant
    ban: Banned | None = Field(description="The ban of the person from this challenge; null if there is none.")
    progress: list[Progress] = Field(description="Progress of each of the person's methods, by phase.")


class Worker(BaseModel):
    """One kind of worker."""

    kind: str
    looked_at: Instant = Field(description="When a worker of this kind last polled for work.")
    is_silent: bool = Field(description="Whether no worker of this kind has polled recently.")


class QueueHealth(BaseModel):
    """The queue, running evaluations and worker health."""

    waiting: int = Field(description="Number of queued submissions to this challenge.")
    running: int = Field(description="Number of submissions to this challenge that are being evaluated.")
    waiting_on_server: int = Field(description="Number of queued submissions to any challenge.")
    running_on_server: int = Field(description="Number of submissions to any challenge that are being evaluated.")
    waiting_since: Instant | None = Field(
        description="When the oldest queued submission to this challenge was queued; null if none is queued."
    )
    scored_last_hour: int = Field(description="Number of evaluations for this challenge in the last hour.")
    failed_last_day: int = Field(
        description="Number of submissions to this challenge that failed in the last 24 hours."
    )
    mean_seconds: float | None = Field(
        description="Mean duration of this challenge's evaluations in the last 24 hours; null if there were none."
    )
    workers: list[Worker]


class LoggedEvent(BaseModel):
    """An event of the audit log."""

    id: uuid.UUID
    created_at: Instant
    who: str = Field(description="Name of the person, or a description of the operator or the server.")
    user: uuid.UUID | None = Field(
        description="Id of the person; null for operators at the command line and the server itself."
    )
    action: str = Field(examples=["submission.disqualify"])
    object_type: str
    object_id: uuid.UUID | None
    text: str = Field(description="The event as a sentence.")
    details: dict[str, Any]
