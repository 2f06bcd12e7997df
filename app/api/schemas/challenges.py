"""Schemas for challenges and their phases."""

import uuid
from typing import Annotated

from pydantic import AliasPath, BaseModel, BeforeValidator, ConfigDict, Field

from vocboard.app.api.schemas.values import Count, Fraction, FromObject, Given, Imported, Instant, of_changes
from vocboard.app.challenges.models import MAIN_PHASE, Admission, Detail, Freeze, OverallRank, Visibility
from vocboard.app.challenges.phases import PhaseState
from vocboard.app.challenges.rules import (
    AdmissionQuestion,
    ChallengeRules,
    DataLink,
    PhaseRules,
    given_rules,
    with_bounds,
)
from vocboard.evaluator.editions import DeclarationKind, Metric, Task, Training


class DeclarationType(FromObject):
    """A declaration about a method."""

    name: str = Field(description="Name of the field of the upload form.", examples=["parameters"])
    title: str
    kind: DeclarationKind
    unit: str = Field(description="Unit of a number; empty if it has none.")
    choices: dict[str, str] = Field(description="What each value of a choice means; empty for other kinds.")
    is_required: bool = Field(description="Whether an upload without it is refused. Others can be declared later.")


class Competition(FromObject):
    """A competition of a challenge."""

    key: str = Field(examples=["comp4"])
    number: Count | None = Field(description="Number of the competition; null if the edition does not number them.")
    task: Task
    variant: str = Field(
        description="Distinguishes competitions of the same task, for example `boxless`; usually empty."
    )
    training: Training
    image_set: str
    metric: Metric = Field(validation_alias=AliasPath("rules", "metric"))
    classes: list[str]
    result_file: str = Field(description="Pattern of result file names.", examples=["Main/comp4_det_test_{class}.txt"])
    declarations: Annotated[list[str], BeforeValidator(lambda found: [each.name for each in found])] = Field(
        description="Declarations that the competition asks for. Each is a field of the upload form."
    )
    declaration_types: list[DeclarationType] = Field(
        validation_alias="declarations", description="The same, each with its type."
    )


class ImageSet(BaseModel):
    """The images of a set, without their annotations."""

    tasks: list[Task]
    name: str = Field(examples=["test"])
    images: list[str] = Field(description="Ids.", examples=[["000001", "000002"]])
    sizes: list[tuple[int, int]] | None = Field(description="Width and height of each; null if no task needs them.")
    persons: list[list[int]] | None = Field(
        description="Image (an index, from 0) and number of each person whose layout or action is scored; null without."
    )


class PublicImageSets(BaseModel):
    """The public part of the test set."""

    format: Count
    edition: str
    image_sets: list[ImageSet]


class Quota(BaseModel):
    """Maximum number of submissions per user and competition in a rolling period."""

    count: Count
    period_seconds: Count
    shared: bool = Field(
        description="Whether competitions with the same ground truth share the quota; a submission counts in each "
        "competition that it enters."
    )
    rule: str = Field(description="The quota as a sentence.")


class QuotaUse(FromObject):
    """Quota used in one competition."""

    used: Count = Field(description="Number of submissions that count, also in competitions that share the quota.")
    allowed: Count = Field(description="Maximum number of submissions, including extra quota.")
    allowed_at: Instant | None = Field(description="When the next submission is allowed; null if it is allowed now.")


class Phase(FromObject):
    """One phase of a challenge."""

    key: str = Field(
        description="Short name of the phase, used in URLs. `main` is the main phase, whose rules are fields of the "
        "challenge.",
        examples=["test"],
    )
    title: str
    state: PhaseState
    is_current: bool = Field(description="Whether uploads that name no phase are submitted to this one.")
    opens_at: Instant | None
    closes_at: Instant | None
    competitions: list[str]
    image_set: str | None = Field(
        description="Image set that its competitions are scored on; null for the edition's image sets."
    )
    has_own_ground_truth: bool = Field(
        description="Whether the phase has its own ground truth; otherwise it uses the main phase's."
    )
    quota: Quota
    detail: Detail
    admission: Admission = Field(description="Who may submit.")
    admission_domains: list[str] = Field(description="Domains of email addresses that `admission` `domain` admits.")
    min_account_days: Count = Field(
        description="Number of days for which the email address of an account must have been confirmed."
    )
    leaderboard_from: Instant | None = Field(description="When leaderboards become visible; null for immediately.")
    freeze: Freeze
    freezes_at: Instant | None = Field(description="When leaderboards stop changing; null for never.")
    anonymous_until: Instant | None = Field(description="When leaderboards begin to show names; null for immediately.")
    ladder_step: Fraction = Field(
        description="Step of the Ladder mechanism: until the phase closes, only each person's new best scores are "
        "shown, rounded to this step. null if all scores are shown immediately."
    )


class ChangedPhase(Phase):
    """A phase after a change."""

    note: str | None = Field(description="What the change did not do, and which other dates it moved; null if neither.")


class ChallengeSummary(FromObject):
    """A challenge, as shown in lists. Dates, competitions, quota and detail level are those of its current phase."""

    slug: str
    title: str
    summary: str = Field(description="What the challenge is about, in one sentence; may be empty.")
    edition: str
    edition_is_own: bool = Field(
        description="Whether the challenge has a custom edition; see `GET /challenges/{slug}/edition`."
    )
    edition_version: Count = Field(
        description="Number of the current version of the edition; it grows when the rules change."
    )
    visibility: Visibility
    phase: PhaseState
    opens_at: Instant | None
    closes_at: Instant | None
    competitions: list[Competition]
    quota: Quota
    decimals: Count = Field(description="Decimal places to which scores are rounded. Scores are fractions.")
    detail: Detail = Field(description="Detail level of results for participants and visitors.")
    anywhere_on_earth: bool = Field(description="Whether pages also show dates in the time zone UTC-12.")
    team_size: Count = Field(description="Largest number of members of a team; 1 if everybody takes part alone.")
    teams_until: Instant | None = Field(description="When teams can change for the last time; null for no such date.")
    statistics: bool = Field(description="Whether leaderboards show intervals and rank ranges.")
    overall_rank: OverallRank = Field(description="How methods are ranked over all leaderboards of a phase.")
    imported: Imported
    current_phase: str = Field(description="Key of the phase for uploads that name no phase.")
    phases: list[Phase]


class ChallengeDetails(ChallengeSummary):
    """One challenge."""

    description: str = Field(description="Markdown; HTML in it is text.")
    website: str
    licence: str = Field(description="Licence of the data: an SPDX name, an address, or empty.")
    contact: str = Field(description="Email address or URL for questions; may be empty.")
    organised_by: str = Field(description="Who organises the challenge: one person or institution a line.")
    citation: str = Field(description="What to cite: BibTeX or text.")
    data_links: list[DataLink] = Field(description="Where the data can be downloaded.")
    admission_questions: list[AdmissionQuestion] = Field(
        description="What people answer who ask to be admitted to a phase with admission `request`."
    )
    quota_use: dict[str, QuotaUse] | None = Field(
        description="Your use of the quota, by competition; null for visitors, and for tokens without the scope `read`."
    )


class ChangedChallenge(ChallengeDetails):
    """A challenge after a change."""

    note: str | None = Field(description="What the change did not do, and which other dates it moved; null if neither.")


class NewChallenge(ChallengeRules):
    """A challenge to create."""

    slug: str = Field(description="Short name of the challenge, used in URLs.", examples=["voc2007"])
    edition: str = Field(
        "", description="Name of a built-in edition. Give this or `edition_file`.", examples=["VOC2007"]
    )
    edition_file: str | None = Field(
        None, description="Content of a custom edition file (TOML). Give this or `edition`."
    )

    def rules(self) -> ChallengeRules:
        """Return the rules alone."""
        return ChallengeRules(**{name: getattr(self, name) for name in ChallengeRules.model_fields})


class ChallengeCopy(BaseModel):
    """A copy of a challenge for another year."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=with_bounds)

    slug: str = Field(description="Short name of the new challenge, used in URLs.", examples=["voc2027"])
    title: str = Field("", description="Title of the new challenge; by default that of the earlier one.")


class ChallengeChanges(ChallengeRules):
    """Changes to a challenge. Omitted fields are unchanged; a date set to null is removed."""

    model_config = ConfigDict(json_schema_extra=of_changes)

    title: str = ""

    def applied_to(self, rules: ChallengeRules) -> ChallengeRules:
        """Return the rules with what was given here."""
        return rules.model_copy(update=given_rules({name: getattr(self, name) for name in self.model_fields_set}))


class NewPhase(PhaseRules):
    """A phase to add."""

    key: str = Field(description="Short name of the phase, used in URLs.", examples=["test"])
    title: str = Field(examples=["Final test"])
    image_set: str | None = Field(
        None,
        description="Image set that its competitions are scored on; null for the edition's image sets. Another image "
        "set needs ground truth of its own.",
        examples=["val"],
    )
    has_own_ground_truth: bool = Field(
        False, description="Whether the phase has its own ground truth; otherwise it uses the main phase's."
    )

    def rules(self) -> PhaseRules:
        """Return the rules alone."""
        return PhaseRules(**{name: getattr(self, name) for name in PhaseRules.model_fields})


class PhaseChanges(PhaseRules):
    """Changes to a phase. Omitted fields are unchanged; a date set to null is removed."""

    model_config = ConfigDict(json_schema_extra=of_changes)

    title: str = ""

    def applied_to(self, rules: PhaseRules) -> PhaseRules:
        """Return the rules with what was given here."""
        given = self.model_fields_set - {"title"}
        return rules.model_copy(update=given_rules({name: getattr(self, name) for name in given}))


class NewAdmission(Given):
    """A person to admit to a phase."""

    email: str = Field(description="Email address of the person, who need not have an account.")
    phase: str = Field(MAIN_PHASE, description="Key of the phase.")
    tell: bool = Field(False, description="Send an email to a person who is admitted now.")


class NewAdmissions(Given):
    """People to admit to a phase."""

    emails: list[str] = Field(description="Their email addresses; they need not have accounts.")
    phase: str = Field(MAIN_PHASE, description="Key of the phase.")
    tell: bool = Field(False, description="Send an email to those who are admitted now.")


class PhaseAdmission(FromObject):
    """A person who is admitted to a phase."""

    email: str = Field(description="Email address of the person, who need not have an account.")
    phase: str = Field(description="Key of the phase.")

    id: uuid.UUID
    created_at: Instant


class NewExtraQuota(Given):
    """Submissions that a person may make beyond the quota, in each competition of a phase."""

    email: str = Field(description="Email address of the person.")
    phase: str = Field(MAIN_PHASE, description="Key of the phase.")
    count: int = Field(description="Number of extra submissions in each competition.")
    until: Instant = Field(description="When the extra quota ends.")
    reason: str = Field("", description="Why it is granted; visible only to organisers.")


class ExtraQuotaChanges(Given):
    """Changes to extra quota. Fields that are omitted or null are unchanged."""

    count: int | None = None
    until: Instant | None = None
    reason: str | None = None


class ExtraQuota(NewExtraQuota, FromObject):
    """Extra quota of a person. It may have ended."""

    id: uuid.UUID
    created_at: Instant


class NewEdition(Given):
    """A custom edition."""

    edition_file: str = Field(description="Content of the edition file (TOML).")
