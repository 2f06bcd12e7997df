"""Ranking of leaderboards, by unrounded scores.

First come the methods that entered every class of the competition, then those that entered some, so that nobody leads
with one easy class; in both groups the better mean of the primary measure first. Better is higher, or lower where the
measure is an error. Of equal means the earlier submission is first. Methods whose mean is undefined are last and have
no rank.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple


class Standing(NamedTuple):
    """The values that determine a method's rank.

    Attributes:
        mean: unrounded fraction; None if undefined.
        is_complete: whether every class was entered.
    """

    mean: float | None
    is_complete: bool
    submitted_at: datetime


def order(standings: Sequence[Standing], *, higher_is_better: bool) -> list[int]:
    """Return the indices of the standings, best first."""
    sign = -1 if higher_is_better else 1
    keys = [_key(standing, sign) for standing in standings]
    return sorted(range(len(keys)), key=keys.__getitem__)


def ranks(ordered: Iterable[Standing]) -> list[int | None]:
    """Return the ranks 1, 2, ... of ordered standings; None for those without a mean."""
    return [None if standing.mean is None else rank for rank, standing in enumerate(ordered, 1)]


def _key(standing: Standing, sign: int) -> tuple[bool, bool, float, datetime]:
    mean, is_complete, submitted_at = standing
    return mean is None, not is_complete, 0.0 if mean is None else sign * mean, submitted_at
