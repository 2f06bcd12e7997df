"""The statistics of a leaderboard from the replicates of its results: intervals, rank ranges and differences.

Statistics that depend on fewer than ten images are withheld: they would be unreliable and could reveal which images
these are. See docs/detail-levels.md, "Intervals".
"""

import logging
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from vocboard.app.leaderboards.differences import Differences
from vocboard.app.leaderboards.entries import Entry
from vocboard.app.leaderboards.sequences import AGREEMENT_DECIMALS, MIN_IMAGES, Agreement, Change
from vocboard.app.leaderboards.shown_statistics import MEAN
from vocboard.app.leaderboards.statistics import (
    MAX_METHODS_BY_CLASS,
    Failure,
    Interval,
    MethodStatistics,
    Statistics,
    decimals_of,
)
from vocboard.evaluator.editions import Competition
from vocboard.evaluator.evidence.weights import REPLICATES
from vocboard.evaluator.statistics import simultaneous
from vocboard.evaluator.statistics.across import correlations
from vocboard.evaluator.statistics.comparison import Pairs, compare_pairs
from vocboard.evaluator.statistics.intervals import MIN_COUNTING_IMAGES, ReplicatedMeasure, ReplicatedScore
from vocboard.evaluator.tasks.definitions import METRICS
from vocboard.worker.replicates import Found, StoredReplicates

MAX_FOUND_BYTES = 256 * 1024**2  # of what all methods find; there is no agreement of more
MAX_INFLUENCE_BYTES = 256 * 1024**2  # in memory at once; what needs more is computed class by class
MAX_KEPT_BYTES = 64 * 1024**2  # of all methods; what needs more is loaded again to compare them in each class
# The ends of an interval are two more scores, which tell how many images count and which. So those of a class, and what
# fewer than a hundred images determine, are rounded outwards to whole per cent: to the nearest, an interval could leave
# out its own score. In the mean of ten classes, a class counts a tenth, so that thousandths of the mean are hundredths
# of the class.
MANY_IMAGES, MANY_CLASSES, FEW_DECIMALS = 100, 10, 2
MIN_STEP = 1e-9  # of a rounded end; smaller ones are rounding errors
TOLERANCE = 1e-9  # between the scores of evaluations and of evidence, for other processors

_log = logging.getLogger(__name__)

Load = Callable[[Entry], StoredReplicates]


@dataclass(frozen=True, slots=True)
class Computed:
    """The statistics of a leaderboard.

    Attributes:
        differences: of all pairs by column: a class, or `MEAN`.
        agreement: of the methods that are compared; None if not reported.
    """

    statistics: Statistics
    differences: Mapping[str, Differences]
    agreement: Agreement | None = None

    @classmethod
    def none(cls, decimals: int, failure: Failure) -> "Computed":
        """Return what is stored if there are none."""
        return cls(Statistics(decimals, 0, 0, 0, {}, failure), {})


def statistics_of(entries: Sequence[Entry], competition: Competition, load: Load, *, decimals: int) -> Computed:
    """Compute the statistics of a leaderboard.

    Rank ranges are those of the methods that entered every class: means over other classes cannot be compared. A result
    whose replicates belong to another score than the leaderboard's, because another version has evaluated it, is left
    out; then nothing is compared.

    Args:
        entries: all that the leaderboard shows; each has a result.
        competition: its rules.
        load: returns the replicates of an entry.
        decimals: of its scores.
    """
    shown = decimals_of(decimals)
    higher_is_better = METRICS[competition.rules.metric].higher_is_better
    intervals: dict[uuid.UUID, tuple[Interval | None, dict[str, Interval]]] = {}
    means: dict[str, ReplicatedScore] = {}
    columns: dict[str, None] = {}
    found: dict[uuid.UUID, Found] = {}
    kept: dict[uuid.UUID, ReplicatedMeasure] = {}
    images = 0
    for entry, result_id in _with_results(entries):
        replicates = load(entry)
        if not is_of(entry, replicates):
            _log.warning("no statistics of result %s: another version has evaluated it", result_id)
            continue
        images, measure = replicates.images, replicates.measure()
        if len(entries) * (measure.per_class.nbytes + measure.influence.nbytes) <= MAX_KEPT_BYTES:
            kept[result_id] = measure
        frequent = _frequent(replicates)
        columns |= dict.fromkeys(frequent)
        by_class = {name: shown_interval(measure.of_class(name), shown) for name in frequent}
        known = {name: interval for name, interval in by_class.items() if interval is not None}
        mean = shown_interval(measure.mean, shown, classes=entry.mean_over) if frequent else None
        intervals[result_id] = mean, known
        if entry.is_complete and entry.mean is not None:
            means[str(result_id)] = _alone(measure.mean)
            if len(entries) <= MAX_METHODS_BY_CLASS:
                found[result_id] = replicates.found
    if not intervals:
        return Computed.none(shown, Failure.OTHER_EVALUATOR)
    differences: dict[str, Differences] = {}
    ranks: Mapping[str, tuple[int, int]] = {}
    first_group: tuple[str, ...] = ()
    if len(intervals) == len(entries):
        if (pairs := compared(means, decimals, higher_is_better=higher_is_better)) is not None:
            over = min(entry.mean_over for entry in entries if str(entry.result_id) in means)
            differences[MEAN] = _rounded(pairs, shown, classes=over)
            ranks, first_group = pairs.rank_ranges, pairs.first_group
        compared_by_class = list(columns) if len(entries) <= MAX_METHODS_BY_CLASS else []
        for name, scores in _by_class(entries, load, kept, compared_by_class, images):
            if (pairs := compared(scores, decimals, higher_is_better=higher_is_better)) is not None:
                differences[name] = _rounded(pairs, shown)
    methods = {
        result_id: MethodStatistics(*both, ranks.get(str(result_id)), str(result_id) in first_group)
        for result_id, both in intervals.items()
    }
    agreement = agreement_of(found) if len(intervals) == len(entries) else None
    return Computed(Statistics(shown, images, REPLICATES, len(ranks), methods), differences, agreement)


def agreement_of(found: Mapping[uuid.UUID, Found]) -> Agreement | None:
    """Return how far methods find the same; None if fewer than two of them can be reported.

    Nothing is reported about methods that find something, or miss something, in fewer than ten images.

    Args:
        found: of methods that entered the same classes, by result.
    """
    shown = {result_id: each for result_id, each in found.items() if _says_something(each)}
    size = sum(each.shares.nbytes for each in shown.values())
    if len(shown) < 2 or size > MAX_FOUND_BYTES or len({len(each.shares) for each in shown.values()}) > 1:
        return None
    units = np.stack([each.shares for each in shown.values()])
    rows = [
        [None if np.isnan(value) else round(value, AGREEMENT_DECIMALS) + 0.0 for value in row]  # not -0.0
        for row in correlations(units).tolist()
    ]
    return Agreement(list(shown), [round(value, AGREEMENT_DECIMALS) for value in units.mean(axis=1).tolist()], rows)


def _says_something(found: Found) -> bool:
    return all(len(np.unique(found.images[which])) >= MIN_IMAGES for which in (found.shares > 0, found.shares < 1))


def _with_results(entries: Sequence[Entry]) -> Iterator[tuple[Entry, uuid.UUID]]:
    return ((entry, entry.result_id) for entry in entries if entry.result_id is not None)


def is_of(entry: Entry, replicates: StoredReplicates) -> bool:
    """Whether replicates belong to the scores of an entry."""
    found = replicates.scores.per_class
    return found.keys() == entry.classes.keys() and all(
        (score is None and np.isnan(found[name])) or (score is not None and abs(found[name] - score) <= TOLERANCE)
        for name, score in entry.classes.items()
    )


def _frequent(replicates: StoredReplicates) -> list[str]:
    """Return the classes that enough images show: it depends on the ground truth only.

    A score of all classes together counts every image.
    """
    shown_by, images = replicates.positive_images, replicates.images
    return [name for name in replicates.scores.per_class if shown_by.get(name, images) >= MIN_COUNTING_IMAGES]


def shown_interval(score: ReplicatedScore, decimals: int, *, classes: int = 1) -> Interval | None:
    """Return an interval; None if too few images determine the score, or none, so that no replicate changes it.

    Args:
        classes: number of classes that the score is the mean of.
    """
    counting = score.counting_images
    if score.is_undefined or counting < MIN_COUNTING_IMAGES:
        return None
    found = score.interval()
    is_coarse = np.array(counting < MANY_IMAGES or classes < MANY_CLASSES)
    low, high = (float(end) for end in _rounded_ends(np.array(found.low), np.array(found.high), decimals, is_coarse))
    return None if np.isnan(low) else Interval(low, high)


def shown_change(change: simultaneous.Change, decimals: int, *, classes: int) -> Change | None:
    """Return what is shown of a difference; None if fewer than ten images determine it.

    Args:
        classes: number of classes that the scores are the means of.
    """
    if change.counting_images < MIN_COUNTING_IMAGES:
        return None
    is_coarse = np.array(change.counting_images < MANY_IMAGES or classes < MANY_CLASSES)
    low, high = (np.array(end).clip(-1.0, 1.0) for end in (change.low, change.high))
    low, high = _rounded_ends(low, high, decimals, is_coarse)
    return Change(float(low), float(high), change.is_significant)


def _by_class(
    entries: Sequence[Entry],
    load: Load,
    kept: Mapping[uuid.UUID, ReplicatedMeasure],
    names: Sequence[str],
    images: int,
) -> Iterator[tuple[str, dict[str, ReplicatedScore]]]:
    """Yield the scores of all entries in these classes, for some classes at a time, to limit memory."""
    at_once = max(1, MAX_INFLUENCE_BYTES // (4 * max(images, 1) * len(entries)))
    for start in range(0, len(names), at_once):
        chunk = names[start : start + at_once]
        scores: dict[str, dict[str, ReplicatedScore]] = {name: {} for name in chunk}
        for entry, result_id in _with_results(entries):
            measure = kept.get(result_id) or load(entry).measure()
            for name in chunk:
                if entry.classes.get(name) is not None:
                    scores[name][str(result_id)] = _alone(measure.of_class(name))
        yield from scores.items()


def _alone(score: ReplicatedScore) -> ReplicatedScore:
    """Return a copy, so that the arrays of the other classes can be freed."""
    return ReplicatedScore(score.score, score.replicates.copy(), score.influence.copy(), score.bias)


def compared(scores: Mapping[str, ReplicatedScore], decimals: int, *, higher_is_better: bool) -> Pairs | None:
    """Compare methods; None if they cannot be compared, because too few replicates define all scores.

    Scores that look equal are equal: an interval would tell which is better, or that the results are the same.

    Args:
        decimals: to which scores are shown.
    """
    try:
        found = compare_pairs(scores, higher_is_better=higher_is_better) if scores else None
    except ValueError:
        return None
    if found is None:
        return None
    shown = np.array([round(scores[name].score, decimals) for name in found.methods])
    is_equal = shown[:, None] == shown
    return replace(found.where(~is_equal), difference=np.where(is_equal, 0.0, found.difference))


def _rounded(pairs: Pairs, decimals: int, *, classes: int = 1) -> Differences:
    return rounded_differences(pairs, [uuid.UUID(method) for method in pairs.methods], decimals, classes=classes)


def rounded_differences(pairs: Pairs, results: Sequence[uuid.UUID], decimals: int, *, classes: int = 1) -> Differences:
    """Return what is shown of the differences of all pairs.

    Args:
        results: id of each method.
        decimals: to which they are rounded.
        classes: number of classes that the scores are the means of.
    """
    counting = pairs.counting_images
    is_coarse = (counting < MANY_IMAGES) | (classes < MANY_CLASSES)
    low, high = _rounded_ends(pairs.low, pairs.high, decimals, is_coarse)
    is_shown = (counting >= MIN_COUNTING_IMAGES) & ~np.isnan(pairs.low)  # see `compared`
    return Differences.rounded(results, low, high, pairs.is_significant, decimals, is_shown=is_shown)


def _rounded_ends(
    low: NDArray[np.float64], high: NDArray[np.float64], decimals: int, is_coarse: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the ends of intervals to so many decimals; of coarse ones outwards, to `FEW_DECIMALS` at most."""
    unit = 10 ** min(decimals, FEW_DECIMALS)
    outwards = np.floor(low * unit + MIN_STEP) / unit, np.ceil(high * unit - MIN_STEP) / unit
    ends = zip(outwards, (low, high), strict=True)
    first, last = (np.where(is_coarse, outer, np.round(end, decimals)) + 0.0 for outer, end in ends)  # not -0.0
    return first, last
