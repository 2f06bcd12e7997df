"""What the API says of challenges and their ground truth."""

import uuid

from pydantic import BaseModel, ConfigDict, Field

from vocboard.app.api.problems import UploadProblem
from vocboard.app.api.schemas.values import Instant
from vocboard.app.challenges.models import Detail, TruthState, Visibility
from vocboard.app.challenges.service import Phase
from vocboard.evaluator.editions import Declaration, Metric, Task, Training


class Competition(BaseModel):
    """A competition that a challenge runs."""

    key: str = Field(examples=["comp4"])
    number: int | None = Field(description="null where the challenge does not number its competitions.")
    task: Task
    variant: str = Field(description="What tells it from others of its task, such as `boxless`; mostly empty.")
    training: Training
    image_set: str
    metric: Metric
    classes: list[str]
    result_file: str = Field(
        description="Pattern of a result file's name.", examples=["Main/comp4_det_test_{class}.txt"]
    )
    declarations: list[Declaration] = Field(description="What its entrants must state: fields of the upload.")


class Quota(BaseModel):
    """How many submissions a person may make in one competition in any such period."""

    count: int
    period_seconds: int


class QuotaUse(BaseModel):
    """What the person has used of it in one competition."""

    used: int
    allowed: int
    allowed_at: Instant | None = Field(description="When the next is allowed; null if it is now.")


class ChallengeSummary(BaseModel):
    """A challenge in a list."""

    slug: str
    title: str
    edition: str
    edition_is_own: bool = Field(description="Whether its file is the organiser's own; see `/edition`.")
    visibility: Visibility
    phase: Phase
    opens_at: Instant | None
    closes_at: Instant | None
    competitions: list[Competition]
    quota: Quota
    decimals: int = Field(description="Of all scores, which are fractions.")
    detail: Detail = Field(description="How much of a result participants and visitors see.")


class ChallengeDetails(ChallengeSummary):
    """One challenge."""

    description: str
    quota_use: dict[str, QuotaUse] | None = Field(
        description="By competition; null for visitors and without the scope `read`."
    )


class ChallengeChanges(BaseModel):
    """What an organiser changes of a challenge; what is left out stays."""

    model_config = ConfigDict(extra="forbid")

    title: str | None = None
    description: str | None = None
    competitions: list[str] | None = Field(None, description="Keys.")
    opens_at: Instant | None = None
    closes_at: Instant | None = None
    quota_count: int | None = None
    quota_period_seconds: int | None = None
    visibility: Visibility | None = None
    decimals: int | None = None
    detail: Detail | None = None


class NewChallenge(BaseModel):
    """A challenge to create."""

    model_config = ConfigDict(extra="forbid")

    slug: str = Field(examples=["voc2007"])
    title: str
    description: str = ""
    edition: str = Field("", description="One that comes with vocboard; not beside a file.", examples=["VOC2007"])
    edition_file: str | None = Field(None, description="The text of an edition file of one's own, TOML.")
    competitions: list[str] | None = Field(None, description="Keys; null for all of the edition's.")
    opens_at: Instant | None = None
    closes_at: Instant | None = None
    quota_count: int = 2
    quota_period_seconds: int = 7 * 24 * 3600
    visibility: Visibility = Visibility.DRAFT
    decimals: int = 4
    detail: Detail = Detail.CURVES


class EditionFile(BaseModel):
    """An edition of one's own."""

    model_config = ConfigDict(extra="forbid")

    edition_file: str = Field(description="The text of an edition file, TOML.")


class GroundTruthVersion(BaseModel):
    """One uploaded ground truth; what it holds is never given back."""

    id: uuid.UUID
    number: int
    created_at: Instant
    file_name: str
    state: TruthState
    is_current: bool
    competitions: list[str] | None = Field(description="Keys of those it can score.")
    problems: list[UploadProblem] | None = Field(description="Why the import failed.")
