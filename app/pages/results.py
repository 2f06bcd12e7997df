"""Evaluations for pages: scores by class, curves, confusion and diagnosis."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from markupsafe import Markup
from sqlalchemy.orm import Session

from vocboard.app.evaluations.results import visible_evaluation
from vocboard.app.evaluations.visible import (
    VisibleConfusion,
    VisibleCounts,
    VisibleEvaluation,
    VisibleMeasure,
    VisibleResult,
)
from vocboard.app.leaderboards.service import columns
from vocboard.app.pages import formats, wording
from vocboard.app.pages.charts import CurvePlot, Scale, curve_plot, tiny_curve
from vocboard.app.pages.diagnosis import DiagnosisView, diagnosis_view
from vocboard.app.submissions.models import Submission
from vocboard.app.submissions.queries import Access, visible_competitions
from vocboard.evaluator.editions import Competition, Metric
from vocboard.evaluator.names import CurveKind
from vocboard.evaluator.tasks.definitions import METRICS

MAX_PLOTTED = 12  # curves in one plot
MAX_CONFUSIONS = 6  # that are listed
MIN_CONFUSION = 0.05  # share of a class's pixels
COUNT_COLUMNS = ("Positives", "Results", "Difficult", "Final recall, %", "Final precision, %")


@dataclass(frozen=True, slots=True)
class ClassRow:
    """One class: a score for each metric, then counts; both empty if it was not entered."""

    name: str
    entered: bool
    scores: tuple[float | None, ...] = ()
    details: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SmallCurve:
    """The drawing of one class's curve; `step` and `is_left_out` as in `VisibleCurve`.

    Attributes:
        drawing: empty if there are no points.
        is_plotted: whether it is in the large plot.
    """

    name: str
    score: float | None
    drawing: Markup
    is_plotted: bool
    step: float | None
    is_left_out: bool


@dataclass(frozen=True, slots=True)
class ConfusionCell:
    """The share of one class's pixels that were labelled as another.

    Attributes:
        share: a fraction of the row; None for an empty row.
        pixels: None if only the share, with two decimals, is visible.
    """

    label: str
    share: float | None
    pixels: int | None
    own: bool

    @property
    def text(self) -> str:
        """The share in per cent: empty for zero, a dot for small shares if pixel counts are known."""
        if not self.pixels and not self.share:
            return ""
        per_cent = 100 * (self.share or 0.0)
        if self.pixels is None:
            return f"{per_cent:.0f}"
        if per_cent < 0.1:
            return "·"
        return f"{per_cent:.1f}" if per_cent < 9.95 else f"{per_cent:.0f}"


@dataclass(frozen=True, slots=True)
class ConfusionRow:
    """The labels of one class's pixels; `step` as in `VisibleConfusion`."""

    label: str
    cells: tuple[ConfusionCell, ...]
    step: float | None

    @property
    def is_empty(self) -> bool:
        """Whether it has no shares: the class has no pixels, or is in too few images."""
        return all(cell.share is None for cell in self.cells)


@dataclass(frozen=True, slots=True)
class Confusion:
    """A confusion matrix; rows are ground truth, columns results."""

    labels: tuple[str, ...]
    rows: tuple[ConfusionRow, ...]

    @property
    def has_steps(self) -> bool:
        """Whether shares are rounded to steps."""
        return any(row.step is not None for row in self.rows)

    @property
    def largest(self) -> list[tuple[ConfusionRow, ConfusionCell]]:
        """The largest shares beside the diagonal."""
        cells = [(row, cell) for row in self.rows for cell in row.cells if not cell.own]
        found = [(row, cell) for row, cell in cells if (cell.share or 0.0) >= MIN_CONFUSION]
        return sorted(found, key=lambda one: -(one[1].share or 0.0))[:MAX_CONFUSIONS]


@dataclass(frozen=True, slots=True)
class ResultView:
    """One competition of an evaluation, limited to what the viewer may see.

    Attributes:
        rows: the classes; empty if only means are visible.
        measures: metrics of the rows' classes; the first ranks the leaderboard.
        curve_kind: kind of the curves.
        plot: of the chosen curves; None if there is none.
        others: other metrics, for example of whole people; only their mean is shown.
        diagnosis: None if it is hidden, or there is nothing to show.
        scale: of the drawings of scores.
    """

    result: VisibleResult
    measures: tuple[VisibleMeasure, ...]
    others: tuple[VisibleMeasure, ...]
    rows: tuple[ClassRow, ...]
    detail_columns: tuple[str, ...]
    curves: tuple[SmallCurve, ...]
    curve_kind: CurveKind
    plot: CurvePlot | None
    confusion: Confusion | None
    diagnosis: DiagnosisView | None
    decimals: int
    scale: Scale
    max_plotted: ClassVar = MAX_PLOTTED

    @property
    def primary(self) -> VisibleMeasure:
        """The metric that ranks the leaderboard."""
        return self.measures[0]

    @property
    def higher_is_better(self) -> bool:
        """Whether the higher of two scores is the better one."""
        return higher_is_better(self.primary.metric)


def higher_is_better(metric: str) -> bool:
    """Whether the higher of two scores is the better one; so it is for metrics of newer evaluators."""
    return metric not in set(Metric) or METRICS[Metric(metric)].higher_is_better


def result_view(
    session: Session,
    submission: Submission,
    competitions: Mapping[str, Competition],
    chosen: str | None,
    access: Access,
    *,
    curves: Sequence[str] = (),
    is_by_link: bool = False,
) -> tuple[VisibleEvaluation | None, ResultView | None]:
    """Return a submission's current evaluation, and one of its competitions for a page.

    Args:
        chosen: key of a competition; the first entered one if it has no result.
        access: what the viewer is to the submission; the default for visitors and anonymous links.
        curves: classes whose curves are in the large plot; the first that has one if none is named.
        is_by_link: whether the viewer has its anonymous link.
    """
    everything = [entry.competition for entry in submission.entries]
    entered = everything if is_by_link else visible_competitions(submission, access)
    if not entered:
        return None, None
    key = chosen if chosen in entered else min(entered, key=list(competitions).index)
    evaluation = visible_evaluation(session, submission, access, curves_of=key, is_by_link=is_by_link)
    result = next((one for one in evaluation.results if one.competition == key), None) if evaluation else None
    if result is None:
        return evaluation, None
    return evaluation, _arranged(result, competitions[key], submission.challenge.decimals, curves)


def curve_kind(competition: Competition) -> CurveKind:
    """Return the kind of a competition's curves."""
    return METRICS[competition.rules.metric].curve


def _arranged(result: VisibleResult, competition: Competition, decimals: int, curves: Sequence[str]) -> ResultView:
    names = columns(competition)
    primary = result.measures[0].per_class
    scored = set(primary) | set(names)
    # Only means are visible, so there are no scores by class.
    measures = tuple(each for each in result.measures if set(each.per_class) <= scored and (each.per_class or primary))
    measures = measures or result.measures[:1]
    kind = curve_kind(competition)
    drawn = [name for name, curve in result.curves.items() if curve.points]
    plotted = [name for name in drawn if name in curves][:MAX_PLOTTED] or drawn[:1]
    return ResultView(
        result=result,
        measures=measures,
        others=tuple(each for each in result.measures if each not in measures),
        rows=tuple(_row(name, result, measures, decimals) for name in names) if primary else (),
        detail_columns=COUNT_COLUMNS if result.counts else (),
        curves=tuple(
            SmallCurve(
                name,
                primary.get(name),
                tiny_curve(name, curve, kind),
                name in plotted,
                curve.step,
                curve.is_left_out,
            )
            for name, curve in result.curves.items()
        ),
        curve_kind=kind,
        plot=curve_plot(
            {series: (name, result.curves[name]) for series, name in enumerate(plotted)}, kind, wording.CURVES[kind]
        ),
        confusion=_confusion(result.confusion, names) if result.confusion else None,
        diagnosis=_diagnosis(result, competition),
        decimals=decimals,
        scale=Scale.over([*primary.values(), result.measures[0].mean]),
    )


def _diagnosis(result: VisibleResult, competition: Competition) -> DiagnosisView | None:
    if result.diagnosis is None:
        return None
    view = diagnosis_view(result.diagnosis, competition.classes)
    return None if view.is_empty else view


def _row(name: str, result: VisibleResult, measures: Sequence[VisibleMeasure], decimals: int) -> ClassRow:
    if name not in measures[0].per_class:
        return ClassRow(name, entered=False)
    written = _written(result.counts.get(name), decimals) if result.counts else ()
    return ClassRow(name, True, tuple(measure.per_class.get(name) for measure in measures), written)


def _written(counts: VisibleCounts | None, decimals: int) -> tuple[str, ...]:
    if counts is None:
        return ("",) * len(COUNT_COLUMNS)
    numbers = (counts.positives, counts.results, counts.difficult)
    finals = (counts.final_recall, counts.final_precision)
    return (*map(formats.count, numbers), *(formats.percent(value, decimals) for value in finals))


def _confusion(matrix: VisibleConfusion, labels: Sequence[str]) -> Confusion:
    rows = []
    for truth, shares in enumerate(matrix.shares):
        pixels = matrix.counts[truth] if matrix.counts else [None] * len(shares)
        cells = tuple(
            ConfusionCell(labels[result], share, pixels[result], truth == result) for result, share in enumerate(shares)
        )
        rows.append(ConfusionRow(labels[truth], cells, matrix.steps[truth] if matrix.steps else None))
    return Confusion(tuple(labels), tuple(rows))
