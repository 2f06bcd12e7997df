"""The rows of a leaderboard by rank. Each is built when it is asked for: a page shows 200 of perhaps 10,000.

Scores are rounded here, and everything that a leaderboard says of them follows from the rounded ones: ranks, order,
marks, quintiles, progress, the place of a result that is not published yet. So two sets of scores that look the same
give the same leaderboard.
"""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import overload

from vocboard.app.leaderboards.entries import NO_LINKS, Entry, MethodLinks
from vocboard.app.leaderboards.ranking import order, ranks
from vocboard.app.leaderboards.score_tables import Cell, ScoreTable
from vocboard.app.leaderboards.statistics import MethodStatistics
from vocboard.app.submissions.forms import Statement, statements
from vocboard.evaluator.editions import Competition, Metric
from vocboard.evaluator.tasks.definitions import METRICS


@dataclass(frozen=True, slots=True)
class BoardRow:
    """One published method.

    Attributes:
        rank: 1 for the first, shared by equal means; None if the mean is undefined.
        submission_id: None on an anonymous leaderboard, where `method` is a label and nothing is said of people.
        declared: what the competition asks its entrants to state.
        mean_over: how many classes the mean is over.
        is_complete: whether every class of the competition was entered.
        cells: one for each class of the leaderboard.
        others: the means of the leaderboard's other metrics.
        other_cells: of each of these metrics, one for each class.
        statistics: how certain its scores are; None if that is not known, or not shown.
        links: of the method; none on an anonymous leaderboard.
        team: name of the team; empty for a person alone, and on an anonymous leaderboard.
    """

    rank: int | None
    submission_id: uuid.UUID | None
    method: str
    contributors: str
    affiliation: str
    declared: tuple[Statement, ...]
    submitted_at: datetime
    mean: Cell
    mean_over: int
    is_complete: bool
    cells: tuple[Cell, ...]
    others: tuple[Cell, ...] = ()
    other_cells: tuple[tuple[Cell, ...], ...] = ()
    statistics: MethodStatistics | None = None
    links: MethodLinks = NO_LINKS
    team: str = ""


class RankedRows(Sequence[BoardRow]):
    """All rows, by rank.

    Attributes:
        entries: what they are of, by rank, with rounded scores.
        ranks: 1, 2, 2, 4, ...; None for those without a mean.
        tables: scores by metric, the one that ranks first, in the order of `entries`.
    """

    def __init__(
        self,
        entries: Sequence[Entry],
        competition: Competition,
        classes: Sequence[str],
        *,
        others: Sequence[Metric] | None = None,
        decimals: int,
        statistics: Mapping[uuid.UUID, MethodStatistics] | None = None,
        is_anonymous: bool = False,
        has_method_pages: bool = True,
    ) -> None:
        """Round and rank entries.

        Args:
            entries: in the order in which equal ones are listed.
            classes: those whose scores are shown.
            others: metrics that are shown beside the one that ranks; by default all that the competition's boards have.
            statistics: by result.
            is_anonymous: whether rows must not lead to submissions.
            has_method_pages: whether the pages of methods can be seen.
        """
        others = competition.rules.board if others is None else others
        rules, self._is_anonymous, self._declarations = competition.rules, is_anonymous, competition.declarations
        self._statistics, self._has_method_pages = statistics or {}, has_method_pages
        shown = [entry.as_shown(decimals) for entry in entries]
        standings = [entry.standing for entry in shown]
        places = order(standings, higher_is_better=METRICS[rules.metric].higher_is_better)
        self.entries: Sequence[Entry] = [shown[place] for place in places]
        self.ranks: Sequence[int | None] = ranks([standings[place] for place in places])
        is_complete = [entry.is_complete for entry in self.entries]
        tables = {
            rules.metric: ScoreTable.of(
                rules.metric,
                [entry.mean for entry in self.entries],
                [entry.classes for entry in self.entries],
                is_complete,
                classes=classes,
            )
        }
        for other in others:
            tables[other] = ScoreTable.of(
                other,
                [entry.others.get(other) for entry in self.entries],
                [entry.other_classes.get(other, {}) for entry in self.entries],
                is_complete,
                classes=classes,
            )
        self.tables: Mapping[Metric, ScoreTable] = tables
        self._primary, self._others = self.tables[rules.metric], tuple(others)

    def __len__(self) -> int:
        return len(self.entries)

    @overload
    def __getitem__(self, place: int) -> BoardRow: ...
    @overload
    def __getitem__(self, place: slice) -> list[BoardRow]: ...
    def __getitem__(self, place: int | slice) -> BoardRow | list[BoardRow]:
        if isinstance(place, slice):
            return [self._row(each) for each in range(*place.indices(len(self)))]
        return self._row(range(len(self))[place])

    def __iter__(self) -> Iterator[BoardRow]:
        return map(self._row, range(len(self)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RankedRows) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # compared by content

    def place_of(self, submission_id: uuid.UUID) -> int | None:
        """Return the index of a submission's row; None if there is none."""
        return self._places.get(submission_id)

    @cached_property
    def _places(self) -> Mapping[uuid.UUID, int]:
        return {entry.submission_id: place for place, entry in enumerate(self.entries)}

    def _row(self, place: int) -> BoardRow:
        entry = self.entries[place]
        mean, *cells = self._primary.row(place)
        others = [self.tables[other].row(place) for other in self._others]
        return BoardRow(
            rank=self.ranks[place],
            submission_id=None if self._is_anonymous else entry.submission_id,
            method=entry.method,
            contributors=entry.contributors,
            affiliation=entry.affiliation,
            declared=statements(entry.declared, self._declarations),
            submitted_at=entry.submitted_at,
            mean=mean,
            mean_over=entry.mean_over,
            is_complete=entry.is_complete,
            cells=tuple(cells),
            others=tuple(each[0] for each in others),
            other_cells=tuple(each[1:] for each in others),
            statistics=None if entry.result_id is None else self._statistics.get(entry.result_id),
            links=entry.links if self._has_method_pages else replace(entry.links, method_id=None),
            team=entry.team,
        )
