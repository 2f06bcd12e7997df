"""Score tables for the terminal, for scores from a server or from the evaluator."""

import math
from collections.abc import Iterator, Mapping

from vocboard.client.scores import CompetitionScores, Ladder, Measure
from vocboard.client.terminal import printable
from vocboard.commands.tables import Column, render
from vocboard.evaluator.names import Metric
from vocboard.evaluator.tasks.definitions import METRICS

UNDEFINED = "n/a"
DECIMALS = 2
INTERVAL = "95 % interval"


def score_lines(
    scores: CompetitionScores, intervals: Mapping[str | None, tuple[float, float]] | None = None
) -> Iterator[str]:
    """Yield a table with a row per class and a column per metric, and the classes that were not entered.

    The mean is over the classes for which the metric is defined.

    Args:
        scores: of one competition.
        intervals: ends of the interval of the first metric, by class, and of the mean under None.
    """
    names = list(scores.primary.per_class)
    places = DECIMALS if scores.decimals is None else max(scores.decimals - 2, 0)
    columns = [Column("", [*map(printable, names), "mean"]), _measure_column(scores.primary, names, places)]
    if intervals is not None:
        columns.append(Column(INTERVAL, [_interval(intervals.get(name)) for name in (*names, None)], right=True))
    columns += [_measure_column(measure, names, places) for measure in scores.secondary]
    if scores.details:
        found = [scores.details.get(name) for name in names]
        columns.append(_count_column("positives", [None if item is None else item.positives for item in found]))
        columns.append(_count_column("results", [None if item is None else item.results for item in found]))
    yield render(columns)
    if scores.ladder is not None:
        yield _ladder_line(scores.ladder, places)
    if scores.not_entered:
        yield f"not entered: {', '.join(map(printable, scores.not_entered))}"


def _ladder_line(ladder: Ladder, places: int) -> str:
    if ladder.is_new_best:
        best = f"a new best, rounded to a multiple of {100 * ladder.step:g} %"
        return f"{best}; all scores appear an hour after the phase closes"
    best = "" if ladder.best is None else f" (your best so far: {percentage(ladder.best, places)} %)"
    return (
        f"no new best by more than {100 * ladder.step:g} points{best}; all scores appear an hour after the phase closes"
    )


def percentage(value: float | None, decimals: int = DECIMALS) -> str:
    """Return a score in per cent, as on the pages; files have fractions.

    >>> percentage(0.5), percentage(None)
    ('50.00', 'n/a')
    """
    return UNDEFINED if value is None else f"{100 * value:.{decimals}f}"


def interval_text(low: float, high: float) -> str:
    """Return the ends of an interval in per cent; both may be negative, so not with a hyphen.

    >>> interval_text(-0.012, 0.003)
    '-1.20 to 0.30'
    """
    return f"{percentage(low)} to {percentage(high)}"


def metric_title(name: str) -> str:
    """Return the title of a metric. A newer server may send one that is not known here.

    >>> metric_title("roc_auc"), metric_title("metric_of_tomorrow")
    ('Area under the ROC curve', 'metric of tomorrow')
    """
    return METRICS[Metric(name)].title if name in set(Metric) else _unknown(name)


def _short_title(name: str) -> str:
    return METRICS[Metric(name)].short_title if name in set(Metric) else _unknown(name)


def _unknown(name: str) -> str:
    return printable(name).replace("_", " ")


def _measure_column(measure: Measure, names: list[str], places: int) -> Column:
    values = [*(measure.per_class.get(name) for name in names), measure.mean]
    return Column(f"{_short_title(measure.metric)}, %", [percentage(value, places) for value in values], right=True)


def _interval(ends: tuple[float, float] | None) -> str:
    if ends is None or math.isnan(ends[0]):
        return UNDEFINED
    return interval_text(*ends)


def _count_column(heading: str, counts: list[int | None]) -> Column:
    return Column(heading, [*("" if count is None else f"{count:,}" for count in counts), ""], right=True)
