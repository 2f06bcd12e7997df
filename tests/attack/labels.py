"""What is certain after uploads of ranked lists: labels that no other ground truth with the same answers contradicts.

A truth is one label an item: 1 positive, 0 difficult, -1 negative. The attacker is granted how many there are of each.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vocboard.app.evaluations.eleven_points import SHOWN_FROM, ceilings, eleven_points, step
from vocboard.evaluator.metrics.precision_recall import ELEVEN_RECALLS, Judgement

Labels = NDArray[np.int8]
SPANS = (1, 3, 10, 40, 200)  # of the exchange of two labels, in ranks
STEPS, ATTEMPTS = 6000, 6
START_TEMPERATURE, COOLING = 0.0005, 0.999


@dataclass(frozen=True, eq=False)
class Ranking:
    """One uploaded list of all items and the answers to it.

    Attributes:
        order: items by rank.
        area: average precision as shown.
        with_difficult: the same with difficult items counted as positives; None where that is not a measure.
        points: (11,) as shown; none at the detail level `classes`.
        decimals: of both scores.
    """

    order: NDArray[np.intp]
    area: float
    with_difficult: float | None
    points: NDArray[np.float64] | None
    decimals: int

    def distance(self, labels: Labels) -> float:
        """How far the answers for another truth are from these; 0 if they are the same."""
        by_rank = labels[self.order]
        points, area = profile(by_rank)
        found = 3 * self._beyond(area, self.area)
        if self.with_difficult is not None:
            found += 3 * self._beyond(profile(np.where(by_rank >= 0, 1, -1))[1], self.with_difficult)
        if self.points is not None:
            points[:SHOWN_FROM] = points[SHOWN_FROM]
            least, greatest = self._points_between(int(np.count_nonzero(by_rank == 1)))
            found += float((np.maximum(least - points, 0) + np.maximum(points - greatest, 0)).sum())
        return found

    def bounds(self, positives: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return between which values of `exact` the same is shown, with a margin."""
        scores = np.array([self.area] if self.with_difficult is None else [self.area, self.with_difficult])
        half = 0.45 * 10.0**-self.decimals
        if self.points is None:
            return scores - half, scores + half
        lowest, highest = self._points_between(positives)
        return np.append(scores - half, lowest[SHOWN_FROM:]), np.append(scores + half, highest[SHOWN_FROM:])

    def exact(self, labels: Labels) -> NDArray[np.float64]:
        """Return the scores, and the points from the first shown one on if there are any, before rounding."""
        found = [profile(by_rank) for by_rank in self._counted(labels)]
        return np.append([area for _, area in found], found[0][0][SHOWN_FROM:] if self.points is not None else [])

    def effects(self, labels: Labels) -> NDArray[np.float64]:
        """Return (items, values): by how much making an item a positive raises each value of `exact`, about."""
        by_rank = labels[self.order]
        columns = []
        for counted in self._counted(labels):
            area, effects = profile(counted)[1], np.zeros(len(labels))
            for rank in np.flatnonzero(by_rank):
                other = counted.copy()
                other[rank] = -counted[rank]
                effects[self.order[rank]] = (profile(other)[1] - area) * other[rank]
            columns.append(effects)
        if self.points is not None:
            ranks = np.flatnonzero(by_rank)
            hits = np.cumsum(by_rank[ranks] == 1)
            before = np.searchsorted(hits, np.ceil(hits[-1] * ELEVEN_RECALLS[SHOWN_FROM:] - 1e-9))
            columns.extend(((np.argsort(self.order)[:, None] <= ranks[before]) / (before + 1)).T)
        return np.array(columns).T

    def _counted(self, labels: Labels) -> list[NDArray[np.generic]]:
        """Return the labels by rank that each score counts."""
        by_rank = labels[self.order]
        return [by_rank] if self.with_difficult is None else [by_rank, np.where(by_rank >= 0, 1, -1)]

    def _points_between(self, positives: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        assert self.points is not None
        width, highest = step(positives, is_mean_score=False), ceilings(positives)
        is_lowered = self.points >= np.round(highest / width) * width - 1e-9
        return self.points - width / 2, np.where(is_lowered, 1.0, self.points + width / 2)

    def _beyond(self, value: float, shown: float) -> float:
        return max(abs(value - shown) - 0.499 * 10.0**-self.decimals, 0.0)


def shown(labels: Labels, order: NDArray[np.intp], decimals: int, *, with_points: bool) -> Ranking:
    """Return what the detail levels `curves` and `classes` show of a list of all items, the latter without points."""
    by_rank = labels[order]
    area, second = (profile(which)[1] for which in (by_rank, np.where(by_rank >= 0, 1, -1)))
    positives = int(np.count_nonzero(by_rank == 1))
    curve = Judgement(true=by_rank == 1, false=by_rank == -1, positives=positives).curve()
    points = np.array(eleven_points(curve, positives, [])) if with_points else None
    return Ranking(order, round(area, decimals), round(second, decimals), points, decimals)


def profile(by_rank: NDArray[np.generic]) -> tuple[NDArray[np.float64], float]:
    """Return the exact eleven points, and average precision as an area, of labels by rank."""
    counted = by_rank[by_rank != 0]
    ranks = np.flatnonzero(counted == 1)
    hits = np.arange(1, len(ranks) + 1)
    best = np.append(np.maximum.accumulate((hits / (ranks + 1))[::-1])[::-1], 0.0)
    return best[np.searchsorted(hits / len(ranks), ELEVEN_RECALLS, side="left")], float(best.sum()) / len(ranks)


def certain(truth: Labels, rankings: Sequence[Ranking], random: np.random.Generator, *, most: int = 0) -> list[int]:
    """Return the positives for which no other truth was found that denies them; an upper bound of what is certain.

    Args:
        most: stop as soon as no more than so many are left.
    """
    positives = set(np.flatnonzero(truth == 1).tolist())
    doubtful: set[int] = set()
    for item in sorted(positives):
        for attempt in range(ATTEMPTS):
            if item in doubtful or len(positives) - len(doubtful) <= most:
                break
            other = without(truth, item, rankings, attempt, random)
            if other is not None:
                doubtful |= {positive for positive in positives if other[positive] != 1}
    return sorted(positives - doubtful)


def without(
    truth: Labels, item: int, rankings: Sequence[Ranking], attempt: int, random: np.random.Generator
) -> Labels | None:
    """Anneal from the truth with the item's label exchanged until every answer is the same again."""
    place = np.argsort(rankings[attempt % len(rankings)].order)
    labels = truth.copy()
    negatives = np.flatnonzero(truth == -1)
    away = place[negatives] - place[item]
    # By turns the nearest negatives ranked higher, which keep how many there are so far, and those ranked lower.
    side = negatives[away < 0 if attempt % 2 == 0 else away > 0]
    near = side[np.argsort(np.abs(place[side] - place[item]))] if len(side) else negatives
    other = near[min(attempt // 2, len(near) - 1)]
    labels[item], labels[other] = labels[other], labels[item]
    distance, temperature = sum(one.distance(labels) for one in rankings), START_TEMPERATURE
    for _ in range(STEPS):
        if distance <= 0:
            return labels
        which = int(random.integers(len(rankings)))
        order, span = rankings[which].order, SPANS[random.integers(len(SPANS))]
        first = int(random.integers(len(order)))
        second = first + int(random.integers(-span, span + 1))
        if not 0 <= second < len(order):
            continue
        a, b = order[first], order[second]
        if labels[a] == labels[b] or item in (a, b):
            continue
        labels[a], labels[b] = labels[b], labels[a]
        changed = sum(one.distance(labels) for one in rankings)
        if changed < distance or random.random() < np.exp((distance - changed) / temperature):
            distance = changed
        else:
            labels[a], labels[b] = labels[b], labels[a]
        temperature = max(temperature * COOLING, 1e-5)
    return None
