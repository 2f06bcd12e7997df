"""Other ground truths that give the same answers: whatever differs between them, nobody can be certain of.

The truth of one class is a sorted array of the ranks of its positives in an upload that ranks every item.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vocboard.app.evaluations.eleven_points import ceilings, step
from vocboard.evaluator.metrics.precision_recall import ELEVEN_RECALLS

Ranks = NDArray[np.intp]
SPANS = (1, 3, 10, 40, 200, 1000)  # of the moves of a positive, in ranks
STEPS, ATTEMPTS = 3000, 6
START_TEMPERATURE, COOLING = 0.002, 0.998


@dataclass(frozen=True)
class Answers:
    """What is shown of a class: bounds of what the exact values may be.

    Attributes:
        least, greatest: (11,) of the interpolated precision.
        area: average precision as an area, rounded.
        mean: the mean of the eleven points, rounded; None where it is not a score.
        decimals: of both.
    """

    items: int
    positives: int
    least: NDArray[np.float64]
    greatest: NDArray[np.float64]
    area: float
    mean: float | None
    decimals: int

    def distance(self, ranks: Ranks) -> float:
        """How far the answers of another truth are from these; 0 if they are the same."""
        points, area = profile(ranks, self.positives)
        mean, points[:5] = float(points.mean()), points[5]
        half = 0.49 * 10.0**-self.decimals
        found = float((np.maximum(self.least - points, 0) + np.maximum(points - self.greatest, 0)).sum())
        found += 3 * max(abs(area - self.area) - half, 0.0)
        if self.mean is not None:
            found += 11 * max(abs(mean - self.mean) - half, 0.0)
        return found


def profile(ranks: Ranks, positives: int) -> tuple[NDArray[np.float64], float]:
    """Return the exact eleven points, and average precision as an area."""
    hits = np.arange(1, len(ranks) + 1)
    best = np.append(np.maximum.accumulate((hits / (ranks + 1))[::-1])[::-1], 0.0)
    return best[np.searchsorted(hits / positives, ELEVEN_RECALLS, side="left")], float(best.sum()) / positives


def answers(ranks: Ranks, items: int, decimals: int, *, is_mean_score: bool) -> Answers:
    """Return what everyone is shown of a class."""
    positives = len(ranks)
    points, area = profile(ranks, positives)
    exact_mean, points[:5] = float(points.mean()), points[5]  # below recall 0.5, what is shown there
    width, highest = step(positives, is_mean_score=is_mean_score), ceilings(positives)
    shown = np.round(np.minimum(points, highest) / width) * width
    is_lowered = shown >= np.round(highest / width) * width
    mean = round(exact_mean, decimals) if is_mean_score else None
    least, greatest = shown - width / 2 + 1e-9, np.where(is_lowered, 1.0, shown + width / 2 - 1e-9)
    return Answers(items, positives, least, greatest, round(area, decimals), mean, decimals)


def without(ranks: Ranks, item: int, shown: Answers, random: np.random.Generator) -> Ranks | None:
    """Return another truth with the same answers in which an item is negative; None if none was found."""
    for attempt in range(ATTEMPTS):
        found = _search(ranks, item, attempt, shown, random)
        if found is not None:
            return found
    return None


def _search(ranks: Ranks, item: int, attempt: int, shown: Answers, random: np.random.Generator) -> Ranks | None:
    taken = np.zeros(shown.items, dtype=bool)
    taken[ranks] = True
    free = np.flatnonzero(~taken)
    after = free[free > item][:12]
    swapped = int(after[min(attempt, len(after) - 1)])
    taken[item], taken[swapped] = False, True
    current = np.sort(np.append(ranks[ranks != item], swapped))
    distance, temperature = shown.distance(current), START_TEMPERATURE
    for _ in range(STEPS):
        if distance <= 0:
            return current
        place = int(random.integers(len(current)))
        old, span = int(current[place]), SPANS[random.integers(len(SPANS))]
        new = old + int(random.integers(-span, span + 1))
        if not 0 <= new < shown.items or taken[new] or new == item:
            continue
        moved = current.copy()
        moved[place] = new
        moved.sort()
        other = shown.distance(moved)
        if other < distance or random.random() < np.exp((distance - other) / temperature):
            taken[old], taken[new] = False, True
            current, distance = moved, other
        temperature = max(temperature * COOLING, 1e-5)
    return None


def certain(ranks: Ranks, shown: Answers, random: np.random.Generator, *, most: int = 0) -> list[int]:
    """Return the positives for which no other truth was found that denies them: an upper bound of what is certain.

    The search is random, so what it has not found is searched again until a pass finds nothing more.

    Args:
        most: stop as soon as no more than so many are left.
    """
    left, before = set(ranks.tolist()), -1
    while len(left) != before:
        before = len(left)
        for item in sorted(left):
            if len(left) <= most:
                break
            if item in left and (other := without(ranks, item, shown, random)) is not None:
                left &= set(other.tolist())
    return sorted(left)
