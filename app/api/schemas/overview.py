"""What the API says to organisers of a whole challenge."""

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
    means: dict[str, Fraction] = Field(description="Of the primary measure, by competition; empty until it is scored.")
    warnings: int = Field(description="How many the validation gave.")
    archive_sha256: str
    held_back: bool = Field(description="Whether an organiser has unpublished it.")
    moderation_reason: str | None
    has_copies: bool = Field(description="Whether another person has submitted the same archive or the same results.")


class Progress(BaseModel):
    """One person's scored submissions to one competition."""

    scored: int
    first: Fraction = Field(description="Mean of the first one.")
    best: Fraction
    improvement: float = Field(description="How much better the best is than the first.")


class BanRequest(BaseModel):
    """Somebody to ban, and what happens to what is published."""

    model_config = ConfigDict(extra="forbid")

    user: uuid.UUID = Field(description="Of an entrant.")
    reason: str = Field(max_length=MAX_REASON_LENGTH, description="Shown to the person.")
    results: Results = Field(description="What happens to the person's published results.")


class Banned(BaseModel):
    """Somebody who may not take part."""

    id: uuid.UUID
    user: uuid.UUID
    name: str
    reason: str
    created_at: Instant


class Entrant(BaseModel):
    """Somebody who has submitted."""

    user: uuid.UUID
    name: str
    email: str
    affiliation: str
    submissions: int
    counted: int = Field(description="Submissions that use quota: not rehearsals, and not those with quota given back.")
    counted_now: int = Field(description="Of these, those in the current quota period of their phase.")
    published: int
    failed: int
    disqualified: int
    latest_at: Instant
    ban: Banned | None
    progress: dict[str, Progress] = Field(description="By competition.")


class Worker(BaseModel):
    """One kind of worker."""

    kind: str
    looked_at: Instant = Field(description="When one of them last looked for work.")
    is_silent: bool


class QueueHealth(BaseModel):
    """The queue."""

    waiting: int
    running: int
    waiting_on_server: int
    running_on_server: int
    waiting_since: Instant | None
    scored_last_hour: int
    failed_last_day: int
    mean_seconds: float | None = Field(description="How long evaluations of the last 24 hours took.")
    workers: list[Worker]


class LoggedEvent(BaseModel):
    """Something that was done."""

    id: uuid.UUID
    created_at: Instant
    who: str
    user: uuid.UUID | None = Field(description="null for operators at the command line and the server itself.")
    action: str = Field(examples=["submission.disqualify"])
    object_type: str
    object_id: uuid.UUID | None
    text: str = Field(description="A sentence.")
    details: dict[str, Any]
