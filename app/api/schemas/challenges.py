"""Schemas for challenges and their ground truth."""

import uuid
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from vocboard.app.api.problems import UploadProblem
from vocboard.app.api.schemas.values import Fraction, Instant
from vocboard.app.challenges.models import MAIN_PHASE, Admission, Detail, Freeze, TruthState, Visibility
from vocboard.app.challenges.rules import PhaseRules
from vocboard.app.challenges.service import ChallengeRules, PhaseState
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
    rule: str = Field(description="The same in words.")


class QuotaUse(BaseModel):
    """Quota used in one competition."""

    used: int
    allowed: int
    allowed_at: Instant | None = Field(description="When the next submission is allowed; null if it is allowed now.")


class Phase(BaseModel):
    """One phase of a challenge."""

    key: str = Field(description="`main` is the challenge's own; see `PATCH /challenges/{slug}`.", examples=["test"])
    title: str
    state: PhaseState
    is_current: bool = Field(description="Whether submissions are made in it unless they name another.")
    opens_at: Instant | None
    closes_at: Instant | None
    competitions: list[str]
    image_set: str | None = Field(description="Which its competitions are scored on; null for those of the edition.")
    has_own_ground_truth: bool = Field(description="Otherwise it has the main phase's.")
    quota: Quota
    detail: Detail
    admission: Admission = Field(description="Who may submit.")
    leaderboard_from: Instant | None = Field(description="When leaderboards become visible; null for at once.")
    freeze: Freeze
    freezes_at: Instant | None = Field(description="When leaderboards stop changing; null for never.")
    anonymous_until: Instant | None = Field(description="When leaderboards begin to show names; null for at once.")
    ladder_step: Fraction = Field(
        description="Step of the Ladder mechanism: until the phase closes, only new bests of each person are shown, "
        "rounded to it. null for scores at once."
    )


class ChallengeSummary(BaseModel):
    """A challenge in a list. Dates, competitions, quota and detail level are those of its current phase."""

    slug: str
    title: str
    edition: str
    edition_is_own: bool = Field(description="Whether the challenge has a custom edition file; see `/edition`.")
    edition_version: int = Field(description="Number of the edition's version; rules that change get a new one.")
    visibility: Visibility
    phase: PhaseState
    opens_at: Instant | None
    closes_at: Instant | None
    competitions: list[Competition]
    quota: Quota
    decimals: int = Field(description="Decimal places of scores, which are fractions.")
    detail: Detail = Field(description="Detail level of results for participants and visitors.")
    anywhere_on_earth: bool = Field(description="Whether pages also show dates in the time zone UTC-12.")
    statistics: bool = Field(description="Whether leaderboards show intervals and rank ranges.")
    current_phase: str = Field(description="Key of the phase that submissions are made in unless they name another.")
    phases: list[Phase]


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


class NewPhase(PhaseRules):
    """A phase to add."""

    key: str = Field(description="Its name in addresses.", examples=["test"])
    title: str = Field(examples=["Final test"])
    image_set: str | None = Field(
        None,
        description="Which its competitions are scored on; another than the edition's needs ground truth.",
        examples=["val"],
    )
    has_own_ground_truth: bool = Field(False, description="Whether ground truth is uploaded for this phase.")

    def rules(self) -> PhaseRules:
        """Return the rules alone."""
        return PhaseRules(**{name: getattr(self, name) for name in PhaseRules.model_fields})


class PhaseChanges(PhaseRules):
    """What an organiser changes of a phase; what is left out stays. A date given as null is taken away."""

    model_config = ConfigDict(json_schema_extra=_without_defaults)

    title: str = ""

    def applied_to(self, rules: PhaseRules) -> PhaseRules:
        """Return the rules with what was given here."""
        given = self.model_fields_set - {"title"}
        return rules.model_copy(update={name: getattr(self, name) for name in given})


class NewAdmission(BaseModel):
    """A person to admit to a phase."""

    model_config = ConfigDict(extra="forbid")

    email: str
    phase: str = MAIN_PHASE


class PhaseAdmission(NewAdmission):
    """A person who is admitted to a phase."""

    id: uuid.UUID
    created_at: Instant


class NewExtraQuota(BaseModel):
    """Submissions that a person may make beyond the quota, in each competition of a phase."""

    model_config = ConfigDict(extra="forbid")

    email: str
    phase: str = MAIN_PHASE
    count: int
    until: Instant
    reason: str = Field("", description="For the organisers.")


class ExtraQuotaChanges(BaseModel):
    """What an organiser changes of extra quota; what is left out or null stays."""

    model_config = ConfigDict(extra="forbid")

    count: int | None = None
    until: Instant | None = None
    reason: str | None = None


class ExtraQuota(NewExtraQuota):
    """Extra quota that a person has, or had until a date."""

    id: uuid.UUID
    created_at: Instant


class EditionFile(BaseModel):
    """A custom edition."""

    model_config = ConfigDict(extra="forbid")

    edition_file: str = Field(description="Content of the edition file (TOML).")


class GroundTruthVersion(BaseModel):
    """One version of the ground truth. Its content is never returned."""

    id: uuid.UUID
    number: int
    phase: str = Field(description="Key of the phase that it was uploaded for.")
    created_at: Instant
    file_name: str
    state: TruthState
    is_current: bool
    competitions: list[str] | None = Field(description="Keys of the competitions that it can score.")
    problems: list[UploadProblem] | None = Field(description="Why the import failed.")
    warnings: list[UploadProblem] = Field(description="What looks wrong, with counts.")
    needs_confirmation: bool = Field(description="Whether it cannot become current before its warnings are confirmed.")
    confirmed_at: Instant | None
    unscorable: dict[str, str] = Field(
        description="Competitions of the challenge that it cannot score, each with the reason."
    )
    summary: dict[str, Any] | None = Field(
        description="By task and image set: images, people, and images and objects by class."
    )
    rescore: uuid.UUID | None = Field(description="The latest re-score of all submissions with it, if there is one.")
