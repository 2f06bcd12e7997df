"""Schemas for challenges and their ground truth."""

import uuid
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from vocboard.app.api.problems import UploadProblem
from vocboard.app.api.schemas.values import Instant
from vocboard.app.challenges.models import Detail, TruthState, Visibility
from vocboard.app.challenges.service import ChallengeRules, Phase
from vocboard.evaluator.editions import Declaration, Metric, Task, Training


class Competition(BaseModel):
    """A competition of a challenge."""

    key: str = Field(examples=["comp4"])
    number: int | None = Field(description="null if the challenge does not number its competitions.")
    task: Task
    variant: str = Field(
        description="Distinguishes competitions of the same task, for example `boxless`; usually empty."
    )
    training: Training
    image_set: str
    metric: Metric
    classes: list[str]
    result_file: str = Field(description="Pattern of result file names.", examples=["Main/comp4_det_test_{class}.txt"])
    declarations: list[Declaration] = Field(
        description="Declarations that the competition requires: fields of the upload."
    )


class Quota(BaseModel):
    """Number of submissions per user and competition in a rolling period."""

    count: int
    period_seconds: int


class QuotaUse(BaseModel):
    """Quota used in one competition."""

    used: int
    allowed: int
    allowed_at: Instant | None = Field(description="When the next submission is allowed; null if it is allowed now.")


class ChallengeSummary(BaseModel):
    """A challenge, as shown in lists."""

    slug: str
    title: str
    edition: str
    edition_is_own: bool = Field(description="Whether the challenge has a custom edition file; see `/edition`.")
    visibility: Visibility
    phase: Phase
    opens_at: Instant | None
    closes_at: Instant | None
    competitions: list[Competition]
    quota: Quota
    decimals: int = Field(description="Decimal places of scores, which are fractions.")
    detail: Detail = Field(description="Detail level of results for participants and visitors.")


class ChallengeDetails(ChallengeSummary):
    """One challenge."""

    description: str
    quota_use: dict[str, QuotaUse] | None = Field(
        description="Quota by competition; null for visitors and without the scope `read`."
    )


class NewChallenge(ChallengeRules):
    """A challenge to create."""

    slug: str = Field(examples=["voc2007"])
    edition: str = Field(
        "", description="Name of a built-in edition; not together with an edition file.", examples=["VOC2007"]
    )
    edition_file: str | None = Field(None, description="Content of a custom edition file (TOML).")

    def rules(self) -> ChallengeRules:
        """Return the rules alone."""
        return ChallengeRules(**{name: getattr(self, name) for name in ChallengeRules.model_fields})


def _without_defaults(schema: dict[str, Any]) -> None:
    for field in schema["properties"].values():
        field.pop("default", None)  # what a new challenge gets; here, what is left out stays


class ChallengeChanges(ChallengeRules):
    """What an organiser changes of a challenge; what is left out stays. A date given as null is taken away."""

    model_config = ConfigDict(json_schema_extra=_without_defaults)

    title: str = ""

    def applied_to(self, rules: ChallengeRules) -> ChallengeRules:
        """Return the rules with what was given here."""
        return rules.model_copy(update={name: getattr(self, name) for name in self.model_fields_set})


class EditionFile(BaseModel):
    """A custom edition."""

    model_config = ConfigDict(extra="forbid")

    edition_file: str = Field(description="Content of the edition file (TOML).")


class GroundTruthVersion(BaseModel):
    """One version of the ground truth. Its content is never returned."""

    id: uuid.UUID
    number: int
    created_at: Instant
    file_name: str
    state: TruthState
    is_current: bool
    competitions: list[str] | None = Field(description="Keys of the competitions that it can score.")
    problems: list[UploadProblem] | None = Field(description="Why the import failed.")
