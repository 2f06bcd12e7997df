"""The records of an export's phases: their rules, their people, and their frozen leaderboards."""

import uuid
from typing import Annotated, TypeAlias

from pydantic import Field

from vocboard.app.challenges.models import Detail
from vocboard.app.challenges.phase_people import MAX_EXTRA
from vocboard.app.challenges.phase_people import MAX_REASON_LENGTH as MAX_QUOTA_REASON_LENGTH
from vocboard.app.challenges.rules import MAX_DECIMALS, MAX_PHASE_TITLE_LENGTH, MAX_TITLE_LENGTH, PhaseRules
from vocboard.app.leaderboards.models import ReportedKind
from vocboard.app.rescores.service import MAX_REASON_LENGTH as MAX_RESCORE_REASON_LENGTH
from vocboard.app.teams.models import MAX_NAME_LENGTH
from vocboard.app.transfer.record_types import (
    ClassName,
    Count,
    DeclaringRecord,
    Key,
    Link,
    MethodName,
    Moment,
    Name,
    Number,
    PhaseKey,
    Record,
    Score,
    Share,
    Visible,
)
from vocboard.evaluator.editions import Metric

Email: TypeAlias = Annotated[Visible, Field(max_length=254)]


class PhaseRecord(Record):
    """A phase other than the main one.

    Attributes:
        image_set: which its competitions are scored on; None for the image sets that the edition names.
        has_own_truth: whether its ground truth is another than the main phase's.
        ground_truth_version: number of its current version, if it has ground truth of its own.
    """

    key: PhaseKey
    title: Annotated[Visible, Field(max_length=MAX_PHASE_TITLE_LENGTH)]
    rules: PhaseRules
    image_set: Visible | None = Field(max_length=60)
    has_own_truth: bool
    ground_truth_version: Number | None


class TruthRecord(Record):
    """A version of the ground truth that something was scored with. The ground truth itself is not exported."""

    number: Number
    phase: PhaseKey


class AdmissionRecord(Record):
    """A person whom organisers have admitted to a phase."""

    phase: PhaseKey
    email: Email


class ExtraQuotaRecord(Record):
    """Submissions that a person may make beyond the quota of a phase."""

    phase: PhaseKey
    email: Email
    count: Annotated[int, Field(strict=True, ge=1, le=MAX_EXTRA)]
    until: Moment
    reason: Visible = Field(max_length=MAX_QUOTA_REASON_LENGTH)


class RuleChangeRecord(Record):
    """A rule that a re-score has changed, in words."""

    what: Visible = Field(max_length=1000)
    before: Visible = Field(max_length=100_000)
    after: Visible = Field(max_length=100_000)


class CorrectionRecord(Record):
    """A re-score that was applied.

    Attributes:
        submission: the one that was evaluated again; None for all.
        edition_changes: the rules that it has changed; None if it did not change the edition.
    """

    id: uuid.UUID
    applied_at: Moment
    reason: Visible = Field(max_length=MAX_RESCORE_REASON_LENGTH)
    ground_truth_version: Number
    evaluator_version: Visible = Field(max_length=30)
    edition_version: Number = 1
    edition_changes: list[RuleChangeRecord] | None = Field(None, max_length=10_000)
    submission: uuid.UUID | None


class FrozenCorrection(Record):
    """A re-score as a frozen leaderboard shows it; the fields of `app.leaderboards.corrections.Correction`."""

    id: uuid.UUID
    applied_at: Moment
    reason: Visible = Field(max_length=MAX_RESCORE_REASON_LENGTH)
    ground_truth_version: Number
    evaluator_version: Visible = Field(max_length=30)
    edition_version: Number = 1
    changes_edition: bool = False
    method: MethodName | None


class FrozenEntry(DeclaringRecord):
    """A row of a frozen leaderboard, with unrounded scores; the fields that `app.leaderboards.entries.Entry` keeps."""

    submission: uuid.UUID
    method: MethodName
    team: Annotated[Visible, Field(max_length=MAX_NAME_LENGTH)] = ""  # since format 7
    contributors: Visible = Field(max_length=1000)
    affiliation: Name
    submitted_at: Moment
    mean: Score | None
    mean_over: Count
    is_complete: bool
    classes: dict[ClassName, Score | None] = Field(max_length=10_000)
    others: dict[Metric, Score | None] = Field(max_length=50)
    other_classes: dict[Metric, Annotated[dict[ClassName, Score | None], Field(max_length=10_000)]] = Field(
        {}, max_length=50
    )  # none in leaderboards that earlier versions froze
    released: Score | None = None  # likewise


class FrozenContent(Record):
    """The contents of a frozen leaderboard.

    Attributes:
        edition_version: number of the version of the edition whose rules it is by.
    """

    challenge_title: Visible = Field(max_length=MAX_TITLE_LENGTH)
    edition_version: Number = 1
    decimals: Annotated[int, Field(strict=True, ge=1, le=MAX_DECIMALS)]
    detail: Detail
    ladder_step: Annotated[float, Field(strict=True, gt=0, lt=1)] | None = (
        None  # none in leaderboards that earlier versions froze
    )
    corrections: list[FrozenCorrection] = Field(max_length=10_000)
    entries: list[FrozenEntry] = Field(max_length=200_000)


class FrozenRecord(Record):
    """The frozen leaderboard of a phase and competition, at one of its freezing dates.

    Attributes:
        is_final: whether no result that was uploaded in time can still come.
    """

    phase: PhaseKey
    competition: Key
    frozen_at: Moment
    is_final: bool
    content: FrozenContent


class ReportedRecord(Record):
    """A baseline, or a result that was not scored on the other server."""

    phase: PhaseKey
    competition: Key
    kind: ReportedKind
    method: MethodName
    reference: Link
    note: Name
    mean: Share | None
    per_class: dict[ClassName, Share] = Field(max_length=10_000)
