"""Evaluations for pages: scores by class, curves, confusion and diagnosis, beside other methods and versions."""

import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from markupsafe import Markup
from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.database import Database
from vocboard.app.errors import NotFoundError
from vocboard.app.evaluations.results import visible_evaluation
from vocboard.app.evaluations.visible import (
    VisibleConfusion,
    VisibleCounts,
    VisibleEvaluation,
    VisibleMeasure,
    VisibleResult,
)
from vocboard.app.leaderboards.current import Boards, HiddenLeaderboardError
from vocboard.app.leaderboards.placement import Placement, Published, placement, result_to_place
from vocboard.app.leaderboards.service import columns
from vocboard.app.pages import formats, wording
from vocboard.app.pages.charts import CurvePlot, curve_plot, tiny_curve
from vocboard.app.pages.diagnosis import DiagnosisView, diagnosis_view
from vocboard.app.submissions import queries
from vocboard.app.submissions.models import Submission
from vocboard.app.submissions.queries import phase_of, visible_competitions
from vocboard.evaluator.editions import Competition, Metric
from vocboard.evaluator.names import CurveKind
from vocboard.evaluator.tasks.registries.definitions import METRICS

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

    @property
    def primary(self) -> VisibleMeasure:
        """The metric that ranks the leaderboard."""
        return self.measures[0]


def result_view(
    session: Session,
    submission: Submission,
    competitions: Mapping[str, Competition],
    chosen: str | None,
    viewer: User | None,
    *,
    curves: Sequence[str] = (),
    is_by_link: bool = False,
) -> tuple[VisibleEvaluation | None, ResultView | None]:
    """Return a submission's current evaluation, and one of its competitions for a page.

    Args:
        chosen: key of a competition; the first entered one if it has no result.
        viewer: None for visitors and for anonymous links.
        curves: classes whose curves are in the large plot; the first that has one if none is named.
        is_by_link: whether the viewer has its anonymous link.
    """
    everything = [entry.competition for entry in submission.entries]
    entered = everything if is_by_link else visible_competitions(session, submission, viewer)
    if not entered:
        return None, None
    key = chosen if chosen in entered else min(entered, key=list(competitions).index)
    evaluation = visible_evaluation(session, submission, viewer, curves_of=key, is_by_link=is_by_link)
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


NOTHING_PUBLISHED = Published(None, None)


class Sort(StrEnum):
    """How the classes of a result are sorted."""

    CLASS = "class"
    SCORE = "score"  # the best first
    CHANGE = "change"  # the greatest improvement first
    GAP = "gap"  # the furthest behind the best first


@dataclass(frozen=True, slots=True)
class Previous:
    """The version that a result is compared with; scores are fractions as shown."""

    submission_id: uuid.UUID
    created_at: datetime
    mean: float | None
    classes: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class ScoreComparison:
    """One score beside others; differences are fractions, None if one of the two scores is undefined.

    Attributes:
        change: since the previous version.
        gap: to the best of the other published methods; negative if the score is lower.
    """

    change: float | None
    gap: float | None
    published: Published


@dataclass(frozen=True, slots=True)
class Comparison:
    """A result beside others.

    Attributes:
        placement: None if there is no leaderboard that the viewer may see.
        previous: None if there is none that the viewer may see.
        sort: how the classes are sorted.
    """

    placement: Placement | None
    previous: Previous | None
    mean: ScoreComparison
    higher_is_better: bool
    classes: Mapping[str, ScoreComparison] = field(default_factory=dict)
    sort: Sort = Sort.CLASS

    @property
    def has_changes(self) -> bool:
        """Whether there are changes of classes."""
        return any(one.change is not None for one in self.classes.values())

    @property
    def has_gaps(self) -> bool:
        """Whether there are gaps of classes."""
        return any(one.gap is not None for one in self.classes.values())

    @property
    def rank_range(self) -> str:
        """The ranks that the differences between methods allow; empty if none are known."""
        known = None if self.placement is None else self.placement.rank_range
        return "" if known is None else formats.range_of_ranks(known)

    @property
    def lead(self) -> float | None:
        """How much better the mean is than the best published one: a fraction, negative if it is worse."""
        if self.mean.gap is None:
            return None
        return self.mean.gap if self.higher_is_better else -self.mean.gap


def compare(
    database: Database,
    boards: Boards,
    submission: Submission,
    view: ResultView,
    viewer: User | None,
    *,
    is_managed: bool,
    sort: Sort,
) -> tuple[ResultView, Comparison]:
    """Return a result with its classes sorted, and the comparison.

    Args:
        submission: one that the viewer may see, with its challenge.
        is_managed: whether the viewer is its owner or an organiser, who also see unpublished versions.
    """
    key = view.result.competition
    with database.reading() as session:
        previous = _previous(session, submission, view, viewer) if is_managed else None
        result = result_to_place(session, submission, key, is_complete=not view.result.not_entered)
    found = None
    if result is not None:
        with suppress(HiddenLeaderboardError, NotFoundError):
            board = boards.read(submission.challenge.slug, key, viewer, phase_key=phase_of(submission).key).board
            found = placement(board, result)
    primary = view.primary
    metric = Metric(primary.metric) if primary.metric in set(Metric) else None
    comparison = Comparison(
        placement=found,
        previous=previous,
        mean=_compared(
            primary.mean, previous.mean if previous else None, found.mean if found else NOTHING_PUBLISHED, view.decimals
        ),
        higher_is_better=metric is None or METRICS[metric].higher_is_better,
        classes={
            row.name: _compared(
                row.scores[0],
                previous.classes.get(row.name) if previous else None,
                found.classes.get(row.name, NOTHING_PUBLISHED) if found else NOTHING_PUBLISHED,
                view.decimals,
            )
            for row in view.rows
            if row.entered
        },
        sort=sort,
    )
    return replace(view, rows=_sorted(view.rows, comparison)), comparison


def _previous(session: Session, submission: Submission, view: ResultView, viewer: User | None) -> Previous | None:
    key = view.result.competition
    found = queries.previous_of(session, submission, key)
    evaluation = None if found is None else visible_evaluation(session, found, viewer)
    if found is None or evaluation is None:
        return None
    results = (one.measures[0] for one in evaluation.results if one.competition == key)
    measure = next((one for one in results if one.metric == view.primary.metric), None)
    if measure is None:
        return None
    return Previous(found.id, found.created_at, measure.mean, measure.per_class)


def _compared(score: float | None, before: float | None, published: Published, decimals: int) -> ScoreComparison:
    return ScoreComparison(
        change=_difference(score, before, decimals),
        gap=_difference(score, published.best, decimals),
        published=published,
    )


def _difference(score: float | None, other: float | None, decimals: int) -> float | None:
    return None if score is None or other is None else round(score - other, decimals)


def _sorted(rows: Sequence[ClassRow], comparison: Comparison) -> tuple[ClassRow, ...]:
    better = -1 if comparison.higher_is_better else 1

    def key(row: ClassRow) -> tuple[bool, float]:
        compared = comparison.classes.get(row.name)
        value = None
        if compared is not None and comparison.sort is Sort.SCORE:
            value = None if row.scores[0] is None else better * row.scores[0]
        elif compared is not None and comparison.sort is Sort.CHANGE:
            value = None if compared.change is None else better * compared.change
        elif compared is not None and comparison.sort is Sort.GAP:
            value = None if compared.gap is None else -better * compared.gap
        return value is None, 0.0 if value is None else value

    return tuple(rows) if comparison.sort is Sort.CLASS else tuple(sorted(rows, key=key))
