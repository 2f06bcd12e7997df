"""Which methods entered which competitions, and how they did on different test sets, as the leaderboards show it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from vocboard.app.leaderboards.board import Board, BoardRow
from vocboard.evaluator.editions import Competition


@dataclass(frozen=True, slots=True)
class Participant:
    """A method: what is published under one name by the same people.

    Attributes:
        places: of its row on each leaderboard, from 0, by competition; of several rows the best.
    """

    method: str
    contributors: str
    affiliation: str
    places: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SetComparison:
    """Methods on two test sets of the same competition otherwise.

    Attributes:
        first, second: the competitions.
        rows: of each method that entered both, on the first and on the second leaderboard, by rank on the first.
    """

    first: Competition
    second: Competition
    rows: tuple[tuple[BoardRow, BoardRow], ...]


def participants(boards: Sequence[Board]) -> list[Participant]:
    """Return the methods of some leaderboards: first those in most competitions, then those with the best ranks."""
    found: dict[tuple[str, str, str], Participant] = {}
    for board in boards:
        for place, entry in enumerate(board.rows.entries):
            key = (entry.method, entry.contributors, entry.affiliation)
            found.setdefault(key, Participant(*key)).places.setdefault(board.competition.key, place)
    return sorted(found.values(), key=lambda each: (-len(each.places), min(each.places.values())))


def compare_test_sets(boards: Mapping[str, Board], methods: Sequence[Participant]) -> list[SetComparison]:
    """Return what methods achieved on two test sets, for each pair of competitions that differ in nothing else.

    Args:
        boards: by competition.
    """
    competitions = [board.competition for board in boards.values()]
    found = []
    for number, first in enumerate(competitions):
        for second in competitions[number + 1 :]:
            alike = (first.task, first.variant, first.training) == (second.task, second.variant, second.training)
            if not alike or first.image_set == second.image_set:
                continue
            both = [each for each in methods if first.key in each.places and second.key in each.places]
            rows = [
                (boards[first.key].rows[each.places[first.key]], boards[second.key].rows[each.places[second.key]])
                for each in sorted(both, key=lambda each: each.places[first.key])
            ]
            if rows:
                found.append(SetComparison(first, second, tuple(rows)))
    return found
