"""Whether the methods of a leaderboard do as well on another image set, such as VOC2005's test1 and test2.

Two competitions that differ in nothing but the image set are compared by the submissions that are on both leaderboards,
as it is stored, and shown to organisers.
"""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from sqlalchemy import Select, select

from vocboard.app.leaderboards.entries import Entry
from vocboard.app.statistics.models import ImageSetComparison
from vocboard.app.statistics.sequences import Change
from vocboard.evaluator.editions import Competition

MAX_METHODS = 300
VERSION = 1  # of the computation: increase it when the same results would give other numbers

Pair = tuple[Entry, Entry]  # of one submission, in each competition


@dataclass(frozen=True, slots=True)
class ImageSetStatistics:
    """How the scores of methods change from one image set to the other, and whether their order holds.

    Attributes:
        changes: of each method, the second score minus the first; None if not reported.
        same: number of pairs of methods that differ by more than chance on both image sets, in the same direction.
        reversed: in opposite directions.
    """

    changes: Sequence[Change | None]
    same: int
    reversed: int

    def as_json(self) -> dict[str, Any]:
        """Return all of it in JSON's types."""
        return {
            "changes": [None if change is None else change.as_json() for change in self.changes],
            "same": self.same,
            "reversed": self.reversed,
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "ImageSetStatistics":
        """Return what `as_json` has written."""
        changes = [None if change is None else Change.from_json(change) for change in stored["changes"]]
        return cls(changes, stored["same"], stored["reversed"])


def comparable(competitions: Iterable[Competition]) -> list[tuple[Competition, Competition]]:
    """Return the pairs of competitions that differ in nothing but the image set (and number and key)."""
    return [
        (one, other)
        for one, other in combinations(competitions, 2)
        if one.image_set != other.image_set
        and replace(other, key=one.key, number=one.number, image_set=one.image_set) == one
    ]


def on_both(one: Sequence[Entry], other: Sequence[Entry]) -> list[Pair]:
    """Return the submissions that are on both leaderboards and entered every class, by their identifiers.

    Empty if there are more than `MAX_METHODS`.
    """
    found = {entry.submission_id: entry for entry in other if _can_be_compared(entry)}
    pairs = [
        (entry, found[entry.submission_id]) for entry in one if _can_be_compared(entry) and entry.submission_id in found
    ]
    return sorted(pairs, key=lambda pair: pair[0].submission_id) if len(pairs) <= MAX_METHODS else []


def of_competitions(phase_id: uuid.UUID, competitions: tuple[Competition, Competition]) -> Select[ImageSetComparison]:
    """Return the query for what is stored of two competitions of `comparable`."""
    return select(ImageSetComparison).where(
        ImageSetComparison.phase_id == phase_id,
        ImageSetComparison.competition == competitions[0].key,
        ImageSetComparison.other == competitions[1].key,
    )


def _can_be_compared(entry: Entry) -> bool:
    return entry.is_complete and entry.mean is not None and entry.result_id is not None
