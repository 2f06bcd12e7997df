"""The Ladder mechanism, which shows a participant only scores that improve on their best score so far.

Source: Blum and Hardt, "The Ladder: A Reliable Leaderboard for Machine Learning Competitions" (2015), algorithm 1. They
minimise a risk; here the metric says which direction is better. Their variant without a parameter compares with the
standard error of a mean of losses of single images, which average precision and intersection over union are not. So
the step is fixed.
"""

import math
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import repeat


@dataclass(frozen=True, slots=True)
class Release:
    """What the mechanism releases of one score.

    Attributes:
        score: rounded to a multiple of the step; None if it is not a new best.
        best: the last score that was released up to here, this one included; None if none was.
    """

    score: float | None
    best: float | None


@dataclass(frozen=True, slots=True)
class Ladder:
    """What the Ladder mechanism releases of a submission to a phase that it still applies to.

    Attributes:
        step: a fraction.
        releases: by competition.
        is_owner: whether it is shown to somebody of the team whose submission it is.
    """

    step: float
    releases: Mapping[str, Release]
    is_owner: bool


@dataclass(frozen=True, slots=True)
class VisibleLadder:
    """Why the Ladder mechanism shows a score or none.

    Attributes:
        step: a fraction.
        is_new_best: whether the submission's score is released.
        best: the last score that was released to its owner up to this submission; None for others, or if none was.
    """

    step: float
    is_new_best: bool
    best: float | None


_EVERYBODY = (None,)


def releases(
    scores: Iterable[float | None],
    step: float,
    *,
    higher_is_better: bool,
    people: Iterable[Collection[Hashable]] = repeat(_EVERYBODY),  # yields the same value for ever
) -> Iterator[Release]:
    """Yield what is released of each score.

    The first score is released. A later one is released if it is better than the best that was released by more than
    the step. Released scores are rounded to the nearest multiple of the step; half a step is rounded up.

    A score counts for several people if a team made the submission. It is compared with the best that any of them has
    seen, and what is released becomes the best of all: so a new team of the same people learns no more.

    Args:
        scores: rounded to the challenge's decimals, in the order in which they became known. None (undefined, or not
            comparable with the others) is never released and changes nothing.
        step: greater than 0, in the scores' unit.
        people: whom each score counts for; by default all for the same person.

    >>> [release.score for release in releases([0.503, 0.508, 0.513, None, 0.7], 0.01, higher_is_better=True)]
    [0.5, None, 0.51, None, 0.7]
    >>> [release.best for release in releases([0.503, 0.491, 0.489], 0.01, higher_is_better=False)]
    [0.5, 0.5, 0.49]
    """
    sign = 1 if higher_is_better else -1
    bests: dict[Hashable, int] = {}  # by person, in steps, so that multiples of the step compare exactly
    for score, group in zip(scores, people, strict=False):
        seen = [bests[person] for person in group if person in bests]
        best = max(seen, key=lambda steps: sign * steps) if seen else None
        is_new_best = score is not None and (best is None or round(sign * (score - best * step) - step, 12) > 0)
        if is_new_best and score is not None:
            best = math.floor(round(score / step, 9) + 0.5)
        if best is not None:
            bests |= dict.fromkeys(group, best)
        shown = None if best is None else _multiple(best, step)
        yield Release(shown if is_new_best else None, shown)


def _multiple(steps: int, step: float) -> float:
    return round(steps * step, 12)  # 0.07, not 0.07 plus the error of a product
