"""An evaluation as a page shows it: one competition's scores by class, its curves, its confusion matrix."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from app.evaluations import queries as evaluations
from app.evaluations.curves import plot_points
from app.evaluations.models import CompetitionResult, Evaluation, Measure
from app.leaderboards.service import columns
from app.pages import formats
from app.submissions.models import Submission
from evaluator.editions import ROC_METRICS, Competition
from evaluator.scores import AnyCurve, CurveKind

SMALL_CURVE_DECIMALS = 2  # a drawing of 140 pixels shows no more
DETAIL_COLUMNS = {"positives": "Positives", "results": "Results", "difficult": "Difficult"}
FINAL_COLUMNS = {"final_recall": "Final recall, %", "final_precision": "Final precision, %"}


@dataclass(frozen=True, slots=True)
class ClassRow:
    """One class: a score for each measure, then its counts; both empty if it was not entered."""

    name: str
    entered: bool
    scores: tuple[float | None, ...] = ()
    details: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SmallCurve:
    """The drawing of one class's curve."""

    name: str
    score: float | None
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class ConfusionCell:
    """Pixels of one class that were given another; `share` is of the row, None for an empty row."""

    label: str
    pixels: int
    share: float | None
    own: bool

    @property
    def text(self) -> str:
        """The share in per cent: nothing for none, a dot for next to nothing."""
        if not self.pixels or self.share is None:
            return ""
        per_cent = 100 * self.share
        if per_cent < 0.1:
            return "·"
        return f"{per_cent:.1f}" if per_cent < 9.95 else f"{per_cent:.0f}"


@dataclass(frozen=True, slots=True)
class ConfusionRow:
    """What became of the pixels of one class."""

    label: str
    cells: tuple[ConfusionCell, ...]


@dataclass(frozen=True, slots=True)
class Confusion:
    """A confusion matrix: rows truth, columns result."""

    labels: tuple[str, ...]
    rows: tuple[ConfusionRow, ...]


@dataclass(frozen=True, slots=True)
class ResultView:
    """One competition of an evaluation.

    Attributes:
        measures: those that score the rows' classes; the first is what the leaderboard ranks by.
        curve_kind: what the curves are of.
        others: those that score something else, such as whole people; their mean alone is shown.
    """

    result: CompetitionResult
    measures: tuple[Measure, ...]
    others: tuple[Measure, ...]
    rows: tuple[ClassRow, ...]
    detail_columns: tuple[str, ...]
    curves: tuple[SmallCurve, ...]
    curve_kind: CurveKind
    confusion: Confusion | None
    decimals: int

    @property
    def primary(self) -> Measure:
        """The measure that the leaderboard ranks by."""
        return self.measures[0]


def result_view(
    session: Session,
    submission: Submission,
    evaluation: Evaluation,
    competitions: Mapping[str, Competition],
    chosen: str | None,
) -> ResultView | None:
    """Arrange one competition of a submission's current evaluation.

    Args:
        chosen: its key; the first competition if there is no result of it.
    """
    results = {result.competition: result for result in evaluation.results}
    if not results:
        return None
    result = results.get(chosen or "", evaluation.results[0])
    competition = competitions[result.competition]
    names = columns(competition)
    scored = {name for measure in result.measures[:1] for name in _scores(measure)} | set(names)
    measures = tuple(measure for measure in result.measures if set(_scores(measure)) <= scored)
    decimals = submission.challenge.decimals
    curves = evaluations.current_curves(session, submission, result.competition)
    primary = _scores(result.measures[0])
    return ResultView(
        result=result,
        measures=measures,
        others=tuple(measure for measure in result.measures if measure not in measures),
        rows=tuple(_row(name, result, measures, decimals) for name in names),
        detail_columns=tuple((DETAIL_COLUMNS | FINAL_COLUMNS).values()) if result.details else (),
        curves=tuple(small_curve(name, primary.get(name), curve) for name, curve in curves.items()),
        curve_kind=curve_kind(competition),
        confusion=_confusion(result.confusion_matrix, names) if result.confusion_matrix else None,
        decimals=decimals,
    )


def curve_kind(competition: Competition) -> CurveKind:
    """What a competition's curves are of."""
    return CurveKind.ROC if competition.rules.metric in ROC_METRICS else CurveKind.PRECISION_RECALL


def small_curve(name: str, score: float | None, curve: AnyCurve) -> SmallCurve:
    """Return the drawing of a class's curve."""
    return SmallCurve(name, score, tuple(plot_points(curve, SMALL_CURVE_DECIMALS)))


def _row(name: str, result: CompetitionResult, measures: Sequence[Measure], decimals: int) -> ClassRow:
    if name not in _scores(measures[0]):
        return ClassRow(name, entered=False)
    details = result.details.get(name)
    written: tuple[str, ...] = ()
    if result.details:
        counts = [formats.count(details[key]) if details else "" for key in DETAIL_COLUMNS]
        finals = [formats.percent(details[key], decimals) if details else "" for key in FINAL_COLUMNS]
        written = (*counts, *finals)
    return ClassRow(name, True, tuple(_scores(measure).get(name) for measure in measures), written)


def _scores(measure: Measure) -> dict[str, float | None]:
    return {score.class_name: score.value for score in measure.class_scores}


def _confusion(matrix: list[list[int]], labels: Sequence[str]) -> Confusion:
    rows = []
    for truth, counts in enumerate(matrix):
        total = sum(counts)
        cells = tuple(
            ConfusionCell(labels[result], pixels, pixels / total if total else None, truth == result)
            for result, pixels in enumerate(counts)
        )
        rows.append(ConfusionRow(labels[truth], cells))
    return Confusion(tuple(labels), tuple(rows))
