"""What viewers see of results: values only, which `app.evaluations.visibility` makes of what is stored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from vocboard.app.evaluations.diagnosis_failures import DiagnosisFailure
from vocboard.app.evaluations.diagnosis_shares import Shares
from vocboard.app.evaluations.ladder import VisibleLadder
from vocboard.app.evaluations.origin import ImportedScores
from vocboard.evaluator.editions import Task
from vocboard.evaluator.names import CurveKind


@dataclass(frozen=True, slots=True)
class VisibleMeasure:
    """One metric: fractions rounded to the challenge's decimals, None if undefined; without classes if hidden."""

    metric: str
    per_class: Mapping[str, float | None]
    mean: float | None
    mean_over: int


@dataclass(frozen=True, slots=True)
class VisibleCounts:
    """Counts for one class; final recall and precision are fractions."""

    positives: int
    results: int
    difficult: int
    final_recall: float | None
    final_precision: float | None


@dataclass(frozen=True, slots=True)
class VisibleCurve:
    """One class's curve.

    Attributes:
        points: from left to right, as in `curves.AXES`; empty if it is undefined or left out.
        step: to whose multiples the points are rounded; None if they are exact, or there are none.
        is_left_out: whether the class has too few positives for a step of at most a tenth.
    """

    kind: CurveKind
    points: tuple[tuple[float, float], ...]
    step: float | None = None
    is_left_out: bool = False


@dataclass(frozen=True, slots=True)
class VisibleConfusion:
    """A confusion matrix: rows are the ground truth, columns the result, background first.

    Attributes:
        shares: fractions of each row; None in rows without pixels, or of classes in too few images.
        counts: pixels; None unless exact data are visible.
        steps: to whose multiples the shares of each row are rounded; None in rows without shares, or if they are exact.
    """

    shares: Sequence[Sequence[float | None]]
    counts: Sequence[Sequence[int]] | None
    steps: Sequence[float | None] | None = None


class DiagnosisState(StrEnum):
    """Whether a diagnosis is available."""

    KNOWN = "known"  # it may have nothing to show at a detail level
    WAITING = "waiting"  # until nothing else is
    FAILED = "failed"
    NONE = "none"  # and there will be none: of withdrawn submissions, and of imported ones without their ground truth


@dataclass(frozen=True, slots=True)
class VisibleDiagnosis:
    """What is wrong with the results of one competition.

    Attributes:
        shares: coarse shares with noise; None if there is no diagnosis.
        exact: see `evaluator.diagnosis.summary`; None unless exact data are visible.
        is_waiting: whether a worker will compute what is missing.
        failure: why it could not be computed.
    """

    shares: Shares | None
    exact: Mapping[str, Any] | None
    is_waiting: bool = False
    failure: DiagnosisFailure | None = None

    @property
    def state(self) -> DiagnosisState:
        """What becomes of the diagnosis."""
        if self.shares is not None:
            return DiagnosisState.KNOWN
        if self.failure is not None:
            return DiagnosisState.FAILED
        return DiagnosisState.WAITING if self.is_waiting else DiagnosisState.NONE


@dataclass(frozen=True, slots=True)
class VisibleResult:
    """One competition of an evaluation; the first metric ranks the leaderboard.

    Attributes:
        counts: by class; empty if hidden.
        curves: by class; empty if hidden, not loaded or nonexistent.
        confusion: None if hidden or for other tasks than segmentation.
        diagnosis: None if hidden.
        ladder: None where scores do not depend on it.
    """

    competition: str
    task: Task
    measures: tuple[VisibleMeasure, ...]
    not_entered: tuple[str, ...]
    counts: Mapping[str, VisibleCounts]
    curves: Mapping[str, VisibleCurve]
    confusion: VisibleConfusion | None
    diagnosis: VisibleDiagnosis | None = None
    ladder: VisibleLadder | None = None


@dataclass(frozen=True, slots=True)
class VisibleEvaluation:
    """The part of a submission's evaluation that a viewer may see.

    Attributes:
        seconds: duration.
        extensions: name and version of each extension that it used.
        ground_truth_version: its number.
        edition_version: number of the version of the challenge's edition whose rules it is by.
        ground_truth_sha256: None if hidden.
        imported: None if it was computed on this server.
    """

    created_at: datetime
    seconds: float
    evaluator_version: str
    extensions: tuple[str, ...]
    archive_sha256: str
    ground_truth_version: int
    edition_version: int
    ground_truth_sha256: str | None
    results: tuple[VisibleResult, ...]
    imported: ImportedScores | None = None
