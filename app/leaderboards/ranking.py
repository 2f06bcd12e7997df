"""Ranking of leaderboards, by what they show: rounded scores.

First come the methods that entered every class of the competition, then those that entered some, so that nobody leads
with one easy class; in both groups the better mean of the primary measure first. Better is higher, or lower where the
measure is an error. Equal means share a rank: unrounded scores would be an exact comparison with any published method,
which undoes the rounding. Among equals the earlier submission is listed first. Methods whose mean is undefined are last
and have no rank.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple


class Standing(NamedTuple):
    """The values that determine a method's rank.

    Attributes:
        mean: as shown, a fraction; None if undefined.
        is_complete: whether every class was entered.
    """

    mean: float | None
    is_complete: bool
    submitted_at: datetime


def order(standings: Sequence[Standing], *, higher_is_better: bool) -> list[int]:
    """Return the indices of the standings, best first; of those that are equal in everything, in the given order."""
    sign = -1 if higher_is_better else 1
    keys = [_key(standing, sign) for standing in standings]
    return sorted(range(len(keys)), key=keys.__getitem__)


def ranks(ordered: Sequence[Standing]) -> list[int | None]:
    """Return the ranks of ordered standings, 1, 2, 2, 4, ...: equals share the best; None for those without a mean."""
    found: list[int | None] = []
    for number, standing in enumerate(ordered, 1):
        if standing.mean is None:
            found.append(None)
        elif number > 1 and standing[:2] == ordered[number - 2][:2]:
            found.append(found[-1])
        else:
            found.append(number)
    return found


def _key(standing: Standing, sign: int) -> tuple[bool, bool, float, datetime]:
    mean, is_complete, submitted_at = standing
    return mean is None, not is_complete, 0.0 if mean is None else sign * mean, submitted_at
