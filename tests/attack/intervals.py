"""What is certain after uploads of ranked lists that were published, so that their leaderboard shows statistics.

The attacker is granted more than the demo shows: eleven points, a third decimal, the exact number of positives, and for
short lists which images outside the list are positive. Rank ranges are those of the class; a leaderboard has only those
of the mean.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from tests.attack.labels import Labels, Ranking, without
from vocboard.app.evaluations.eleven_points import eleven_points
from vocboard.evaluator.editions import Interpolation
from vocboard.evaluator.metrics.precision_recall import Judgement
from vocboard.evaluator.statistics.average_precision import ResampledAveragePrecision
from vocboard.evaluator.statistics.bias import bias_of, draw_parts
from vocboard.evaluator.statistics.influence import influences
from vocboard.evaluator.statistics.intervals import ReplicatedScore
from vocboard.worker.comparisons import compared, rounded_differences, shown_interval
from vocboard.worker.replicates import weights_of

DECIMALS = 3  # of scores and intervals: one more than the demo shows
SPAN = 30  # of an exchange of two labels, in ranks
STEPS = 250  # of the search for the same statistics
ATTEMPTS = 3
TEMPERATURE = 1.0  # in units of the last decimal
Order = NDArray[np.intp]
Statistics = tuple[tuple[float, ...] | None, ...]
parts_of = cache(draw_parts)


def replicated(labels: Labels, order: Order) -> ReplicatedScore:
    """Return the average precision of a list of images, the best first, and its replicates."""
    by_rank, positive = labels[order], np.flatnonzero(labels == 1).astype(np.int32)
    resampled = ResampledAveragePrecision(
        Judgement(true=by_rank == 1, false=by_rank == -1, positives=len(positive)),
        order.astype(np.int32),
        positive,
        Interpolation.AREA,
    )
    return replicated_score(resampled, len(labels))


def replicated_score(resampled: ResampledAveragePrecision, images: int) -> ReplicatedScore:
    """Return what the server computes of a score."""
    weights = weights_of(images)
    replicates = resampled.replicates(weights)
    influence = influences(weights, replicates[None])[0]
    return ReplicatedScore(resampled.score(), replicates, influence, bias_of(resampled, parts_of(images)))


def scores_shown(labels: Labels, order: Order) -> tuple[float, ...]:
    """What is shown of a list without statistics: average precision, with difficult images counted, and the points."""
    by_rank, positives = labels[order], int(np.count_nonzero(labels == 1))
    of_list = Judgement(true=by_rank == 1, false=by_rank == -1, positives=positives)
    second = Judgement(true=by_rank >= 0, false=by_rank < 0, positives=int(np.count_nonzero(labels >= 0)))
    areas = [judgement.average_precision(Interpolation.AREA) for judgement in (of_list, second)]
    return (*(round(area, DECIMALS) for area in areas), *eleven_points(of_list.curve(), positives, areas))


@dataclass(frozen=True)
class Board:
    """The lists of an attacker, all of them published beside those of others.

    Attributes:
        lists: of the attacker.
        others: lists of other people, which the attacker does not know.
    """

    lists: Sequence[Order]
    others: Sequence[Order] = ()

    def statistics(self, labels: Labels) -> Statistics:
        """What is shown of statistics: intervals, rank ranges, who is in the first group, and differences."""
        of = {str(number): replicated(labels, order) for number, order in enumerate((*self.lists, *self.others))}
        own = [str(number) for number in range(len(self.lists))]
        intervals = [shown_interval(of[name], DECIMALS) for name in own]
        if len(of) == 1:
            return tuple(intervals)
        pairs = compared(of, DECIMALS, higher_is_better=True)
        assert pairs is not None
        ids = {name: uuid.UUID(int=number) for number, name in enumerate(pairs.methods)}
        shown = rounded_differences(pairs, list(ids.values()), DECIMALS)
        found = [shown.of(ids[one], ids[other], DECIMALS) for one, other in combinations(own, 2)]
        differences = [one and (one.low, one.high, one.is_significant) for one in found]
        ranks = [(*pairs.rank_ranges[name], name in pairs.first_group) for name in own]
        return *intervals, *differences, *ranks


def certain(truth: Labels, board: Board, random: np.random.Generator, *, most: int = 0) -> list[int]:
    """Return the positives for which no other truth was found that denies them; an upper bound of what is certain.

    Others are found as `labels.certain` finds those with the same scores, and changed until the statistics are, too.

    Args:
        most: stop when so few are left.
    """
    rankings = [ranking(truth, order) for order in board.lists]
    statistics = board.statistics(truth)
    doubtful = truth != 1
    for attempt in range(ATTEMPTS):
        for item in np.flatnonzero(truth == 1).tolist():
            if doubtful[item]:
                continue
            other = without(truth, item, rankings, attempt, random)
            if (
                other is not None
                and (settled := _settled(other, item, board, rankings, statistics, random)) is not None
            ):
                doubtful |= settled != 1
            if np.count_nonzero(~doubtful) <= most:
                return np.flatnonzero(~doubtful).tolist()
    return np.flatnonzero(~doubtful).tolist()


def ranking(labels: Labels, order: Order) -> Ranking:
    """Return a list of all images, and what is shown of it without statistics."""
    area, second, *points = scores_shown(labels, order)
    return Ranking(order, area, second, np.array(points), DECIMALS)


def _settled(
    labels: Labels,
    item: int,
    board: Board,
    rankings: Sequence[Ranking],
    statistics: Statistics,
    random: np.random.Generator,
) -> Labels | None:
    """Exchange labels such that scores stay as they are shown, until the statistics are the same, too."""
    distance = _distance(board.statistics(labels), statistics)
    for _ in range(STEPS):
        if distance == 0:
            return labels
        other = labels.copy()
        for _ in range(int(random.integers(1, 4))):
            order = board.lists[random.integers(len(board.lists))]
            first = int(random.integers(len(order)))
            second = first + int(random.integers(-SPAN, SPAN + 1))
            if 0 <= second < len(order) and item not in (order[first], order[second]):
                other[order[first]], other[order[second]] = other[order[second]], other[order[first]]
        if (other != labels).any() and all(one.distance(other) <= 0 for one in rankings):
            changed = _distance(board.statistics(other), statistics)
            if changed <= distance or random.random() < np.exp((distance - changed) / TEMPERATURE):
                labels, distance = other, changed
    return None


def _distance(found: Statistics, shown: Statistics) -> float:
    """How many units of the last decimal are different; much for what is only in one, and for other ranks."""
    total = 0.0
    for one, other in zip(found, shown, strict=True):
        if one is None or other is None or len(one) != len(other):
            total += 0.0 if one is other else 100.0
        else:
            total += sum(abs(a - b) for a, b in zip(one, other, strict=True))
    return round(total * 10**DECIMALS)
