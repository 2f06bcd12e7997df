"""Ranking of leaderboards, by unrounded scores.

First come the methods that entered every class of the competition, then those that entered some, so that nobody leads
with one easy class; in both groups the better mean of the primary measure first. Better is higher, or lower where the
measure is an error. Of equal means the earlier submission is first. Methods whose mean is undefined are last and have
no rank.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Standing:
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
    return sorted(range(len(standings)), key=lambda index: _key(standings[index], sign))


def ranks(ordered: Iterable[Standing]) -> list[int | None]:
    """Return the ranks 1, 2, ... of ordered standings; None for those without a mean."""
    return [None if standing.mean is None else rank for rank, standing in enumerate(ordered, 1)]


def _key(standing: Standing, sign: int) -> tuple[bool, bool, float, datetime]:
    return (
        standing.mean is None,
        not standing.is_complete,
        0.0 if standing.mean is None else sign * standing.mean,
        standing.submitted_at,
    )
