"""The statistics of a leaderboard from the replicates of its results: intervals, rank ranges and differences."""

import logging
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from vocboard.app.leaderboards.entries import Entry
from vocboard.app.leaderboards.shown_statistics import MEAN
from vocboard.app.statistics.boards import Interval, MethodStatistics, Statistics, decimals_of
from vocboard.app.statistics.differences import Differences
from vocboard.evaluator.editions import Competition
from vocboard.evaluator.statistics.comparison import Pairs, compare_pairs
from vocboard.evaluator.statistics.intervals import ReplicatedMeasure, ReplicatedScore
from vocboard.evaluator.statistics.weights import REPLICATES
from vocboard.evaluator.tasks.definitions import METRICS
from vocboard.worker.replicates import StoredReplicates

MOST_INFLUENCE_BYTES = 256 * 1024**2  # in memory at once; what needs more is computed class by class
TOLERANCE = 1e-9  # between the scores of evaluations and of evidence, for other processors

_log = logging.getLogger(__name__)

Load = Callable[[Entry], StoredReplicates]


@dataclass(frozen=True, slots=True)
class Computed:
    """The statistics of a leaderboard.

    Attributes:
        differences: of all pairs by column: a class, or `MEAN`.
    """

    statistics: Statistics
    differences: Mapping[str, Differences]

    @classmethod
    def none(cls, decimals: int) -> "Computed":
        """Return what is stored if there cannot be any."""
        return cls(Statistics(decimals, 0, 0, 0, {}), {})


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
    images = 0
    for entry, result_id in _with_results(entries):
        replicates = load(entry)
        if not _is_of(entry, replicates):
            _log.warning("no statistics of result %s: another version has evaluated it", result_id)
            continue
        images, measure = replicates.images, replicates.measure()
        by_class = {name: _interval(measure.of_class(name), shown) for name in measure.measure.per_class}
        known = {name: interval for name, interval in by_class.items() if interval is not None}
        intervals[result_id] = _interval(measure.mean, shown), known
        if entry.is_complete and entry.mean is not None:
            means[str(result_id)] = measure.mean
    differences: dict[str, Differences] = {}
    ranks: Mapping[str, tuple[int, int]] = {}
    first_group: tuple[str, ...] = ()
    if len(intervals) == len(entries):
        if (pairs := _compared(means, higher_is_better)) is not None:
            differences[MEAN] = _rounded(pairs, shown)
            ranks, first_group = pairs.rank_ranges, pairs.first_group
        for name, scores in _by_class(entries, load):
            if (pairs := _compared(scores, higher_is_better)) is not None:
                differences[name] = _rounded(pairs, shown)
    methods = {
        result_id: MethodStatistics(*both, ranks.get(str(result_id)), str(result_id) in first_group)
        for result_id, both in intervals.items()
    }
    return Computed(Statistics(shown, images, REPLICATES, len(ranks), methods), differences)


def _with_results(entries: Sequence[Entry]) -> Iterator[tuple[Entry, uuid.UUID]]:
    return ((entry, entry.result_id) for entry in entries if entry.result_id is not None)


def _is_of(entry: Entry, replicates: StoredReplicates) -> bool:
    """Whether replicates belong to the scores of an entry."""
    found = replicates.scores.per_class
    return found.keys() == entry.classes.keys() and all(
        (score is None and np.isnan(found[name])) or (score is not None and abs(found[name] - score) <= TOLERANCE)
        for name, score in entry.classes.items()
    )


def _interval(score: ReplicatedScore, decimals: int) -> Interval | None:
    if score.is_undefined:
        return None
    found = score.interval()
    return None if np.isnan(found.low) else Interval(round(found.low, decimals), round(found.high, decimals))


def _by_class(entries: Sequence[Entry], load: Load) -> Iterator[tuple[str, dict[str, ReplicatedScore]]]:
    """Yield the scores of all entries by class, for some classes at a time, to limit memory."""
    names = list(dict.fromkeys(name for entry in entries for name in entry.classes))
    if not names:
        return
    at_once = max(1, MOST_INFLUENCE_BYTES // (4 * max(load(entries[0]).images, 1) * len(entries)))
    for start in range(0, len(names), at_once):
        chunk = names[start : start + at_once]
        scores: dict[str, dict[str, ReplicatedScore]] = {name: {} for name in chunk}
        for entry, result_id in _with_results(entries):
            measure = load(entry).measure()
            for name in chunk:
                if entry.classes.get(name) is not None:
                    scores[name][str(result_id)] = _alone(measure, name)
        yield from scores.items()


def _alone(measure: ReplicatedMeasure, name: str) -> ReplicatedScore:
    """Return the score of a class, without the memory of the others."""
    score = measure.of_class(name)
    return ReplicatedScore(score.score, score.replicates.copy(), score.influence.copy())


def _compared(scores: Mapping[str, ReplicatedScore], higher_is_better: bool) -> Pairs | None:
    """Compare methods; None if they cannot be compared, because too few replicates define all scores."""
    try:
        return compare_pairs(scores, higher_is_better=higher_is_better) if scores else None
    except ValueError:
        return None


def _rounded(pairs: Pairs, decimals: int) -> Differences:
    results = [uuid.UUID(method) for method in pairs.methods]
    return Differences.rounded(results, pairs.low, pairs.high, pairs.is_significant, decimals)
