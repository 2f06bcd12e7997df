"""What the address of a leaderboard says: order, filter, page, measure, and the methods that are to be compared.

All of it is in the address, so that it survives a reload and can be bookmarked. What makes no sense is ignored.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any
from urllib.parse import urlencode

from starlette.datastructures import QueryParams

from vocboard.app.errors import InvalidInputError
from vocboard.app.leaderboards.board import Board, Part
from vocboard.app.leaderboards.score_tables import ScoreTable
from vocboard.evaluator.editions import Metric
from vocboard.evaluator.tasks.definitions import METRICS

RANK, METHOD, MEAN, SUBMITTED = "rank", "method", "mean", "submitted"
# Parts of the table that can be hidden, and what they are called.
HIDEABLE = {
    "forest": "Drawing of the means",
    "ranks": "Rank range",
    "other": "Other measures",
    "figure": "Declared numbers",
    "classes": "Classes",
    "date": "Date",
    "declared": "Declarations",
    "reported": "Baselines and results from papers",
}
AMONG = "among"
GROUPS = "groups"
OF_GROUP = "group:"  # before the name of a group, as a column: classes have no colons
MAX_FILTER_LENGTH = 200  # characters
PER_PAGE = 200  # methods
MAX_COMPARED = 12  # methods: as many as there are combinations of colour and mark
ASCENDING_AT_FIRST = frozenset({RANK, METHOD})


class View(StrEnum):
    """What a page shows of a leaderboard."""

    TABLE = "table"
    PROGRESS = "progress"  # the best means over time
    CLASSES = "classes"  # the scores of all methods in each class
    FIGURES = "figures"  # means against declared numbers


def views_of(board: Board) -> dict[View, str]:
    """Return the views of a leaderboard that have something to show, with the names of their tabs."""
    found = {View.TABLE: "Table"}
    if board.rows:
        found[View.PROGRESS] = "Progress"
        if board.classes:
            found[View.CLASSES] = "Classes"
        if board.competition.figures:
            found[View.FIGURES] = "Declared figures"
    return found


def part_of(fields: QueryParams) -> tuple[str | None, Part]:
    """Return the phase and the results that an address asks for."""
    return fields.get("phase"), Part.LATER if fields.get("results") == Part.LATER else Part.COUNTING


@dataclass(frozen=True, slots=True)
class BoardState:
    """What is shown of a leaderboard, and how.

    Attributes:
        column: rank, method, mean, submitted, another measure of the board, a declared number, a class or a group.
        is_sorted: whether the address says so; else it is by rank.
        page: from 1.
        metric: the measure whose scores by class are shown; None for the one that ranks.
        is_shaded: whether cells are coloured by their quintile of the column.
        with_code: whether only methods with a link to their code are listed.
        view: what is shown of the leaderboard.
        hidden: names of `HIDEABLE` that the table does not show.
        is_mixed: whether results that were not scored here stand among the others, by their mean, not below them.
        by_group: whether there are columns for groups of classes in place of the classes.
        class_name: the one whose curves are compared; None for the first.
        methods: submissions that are chosen for the comparison, whether or not this board has them.
        ascending_at_first: columns that the first click sorts upwards.
        part: fields of the address that say which phase and results are shown.
    """

    column: str
    descending: bool
    is_sorted: bool
    filter: str
    page: int
    metric: Metric | None
    is_shaded: bool
    with_code: bool
    view: View
    hidden: tuple[str, ...]
    is_mixed: bool
    by_group: bool
    class_name: str | None
    methods: tuple[uuid.UUID, ...]
    ascending_at_first: frozenset[str] = ASCENDING_AT_FIRST
    part: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, asked: QueryParams, board: Board) -> "BoardState":
        """Return what an address asks for, of this leaderboard.

        Its fields are not read by FastAPI, which needs longer for ten of them than for the rest of a cached page.

        Raises:
            InvalidInputError: the filter is too long.
        """
        searched = asked.get("q", "")
        if len(searched) > MAX_FILTER_LENGTH:
            message = f"Use at most {MAX_FILTER_LENGTH} characters. These are {len(searched)}."
            raise InvalidInputError({"q": message})
        phase, results = part_of(asked)
        part = (("phase", phase),) if phase else ()
        if results is Part.LATER:
            part = (*part, ("results", results.value))
        metric = _metric(asked.get("metric"), board)
        ascending = _ascending_at_first(board, metric)
        column, is_sorted = asked.get("sort") or RANK, bool(asked.get("sort"))
        figures = [each.column for each in board.competition.figures]
        by_group = asked.get("columns") == GROUPS and bool(board.groups)
        of_classes = [name for name, _ in class_columns(board, by_group=by_group)]
        if column not in {RANK, METHOD, MEAN, SUBMITTED, *board.others, *figures, *of_classes}:
            column, is_sorted = RANK, False
        order, class_name = asked.get("order"), asked.get("class")
        descending = order == "desc" if order in {"asc", "desc"} else column not in ascending
        return cls(
            column=column,
            descending=descending and is_sorted,
            is_sorted=is_sorted,
            filter=" ".join(searched.split()),
            page=_page(asked.get("page", ""), len(board.rows)),
            metric=metric,
            is_shaded=asked.get("shade") != "off",
            with_code=asked.get("code") == "only",
            view=next((one for one in views_of(board) if one == asked.get("view")), View.TABLE),
            hidden=tuple(name for name in HIDEABLE if name in asked.get("hide", "").split(",")),
            is_mixed=asked.get("reported") == AMONG,
            by_group=by_group,
            class_name=class_name if class_name in board.classes else None,
            methods=_identifiers(asked.getlist("method")),
            ascending_at_first=ascending,
            part=part,
        )

    @property
    def fields(self) -> list[tuple[str, str]]:
        """The fields of the address that are not as they would be without it."""
        fields = list(self.part)
        if self.metric is not None:
            fields.append(("metric", self.metric.value))
        if self.is_sorted:
            fields += [("sort", self.column), ("order", "desc" if self.descending else "asc")]
        if self.filter:
            fields.append(("q", self.filter))
        if self.page > 1:
            fields.append(("page", str(self.page)))
        if self.with_code:
            fields.append(("code", "only"))
        if not self.is_shaded:
            fields.append(("shade", "off"))
        if self.hidden:
            fields.append(("hide", ",".join(self.hidden)))
        if self.is_mixed:
            fields.append(("reported", AMONG))
        if self.by_group:
            fields.append(("columns", GROUPS))
        if self.view is not View.TABLE:
            fields.append(("view", self.view.value))
        if self.class_name is not None:
            fields.append(("class", self.class_name))
        return fields + [("method", str(each)) for each in self.methods]

    @property
    def of_rows(self) -> "BoardState":
        """Return what the rows of a page depend on, as everybody sees them."""
        return replace(self, is_shaded=True, view=View.TABLE, hidden=(), class_name=None, methods=(), part=())

    def fields_without(self, *names: str) -> list[tuple[str, str]]:
        """Return the fields of the address but for some, for a form that has these itself."""
        return [(name, value) for name, value in self.fields if name not in names]

    def address(self, **changed: str | None) -> str:
        """Return the query with some fields changed; None takes one away."""
        fields = [(name, value) for name, value in self.fields if name not in changed]
        fields += [(name, value) for name, value in changed.items() if value is not None]
        return "?" + urlencode(fields) if fields else ""

    def sorted_by(self, column: str) -> str:
        """Return the query that sorts by a column: first in its natural order, then reversed."""
        descending = column not in self.ascending_at_first
        if column == self.column:
            descending = not self.descending
        return self.address(sort=column, order="desc" if descending else "asc", page=None)

    def toggled(self, name: str) -> str:
        """Return the query that hides a part of the table, or shows it again."""
        hidden = [each for each in HIDEABLE if (each in self.hidden) != (each == name)]
        return self.address(hide=",".join(hidden) or None)

    def places(self, board: Board) -> list[int]:
        """Return the rows to show of all pages, as indices: filtered, then sorted with the undefined last.

        Among equals the better rank is first.
        """
        rows = board.rows
        found: Sequence[int] = range(len(rows))
        if self.filter:
            found = [place for place in found if _matches(board, place, self.filter)]
        if self.with_code:
            found = [place for place in found if rows.entries[place].links.code_url]
        if self.column == RANK:
            ranked = [place for place in found if rows.ranks[place] is not None]
            others = [place for place in found if rows.ranks[place] is None]
            return (ranked[::-1] if self.descending else ranked) + others
        values = self._values(board)
        defined = [place for place in found if values[place] is not None]
        undefined = [place for place in found if values[place] is None]
        return sorted(defined, key=values.__getitem__, reverse=self.descending) + undefined

    def place_among(self, board: Board, places: Sequence[int], mean: float | None) -> int | None:
        """Return before which of the shown rows a mean that was not scored here stands.

        Args:
            places: of all rows to show, as `places` returns them.

        Returns:
            An index into `places`, or their number; None if it stands below the table, because it is to, there is no
            mean, or the rows are not in the order of means, best first.
        """
        table = board.rows.tables[board.metric]
        is_by_mean = self.column == RANK and not self.descending
        is_by_mean |= self.column == MEAN and self.descending == table.higher_is_better
        if not self.is_mixed or not is_by_mean or mean is None:
            return None
        means, sign = table.shown(0), 1 if table.higher_is_better else -1
        for number, place in enumerate(places):
            other = means[place]
            is_ranked_later = self.column == RANK and not board.rows.entries[place].is_complete
            if is_ranked_later or other is None or sign * other < sign * mean:
                return number
        return len(places)

    def table(self, board: Board) -> ScoreTable:
        """Return the scores that the columns of classes or groups are of."""
        metric = self.metric or board.metric
        return board.grouped(metric) if self.by_group else board.rows.tables[metric]

    def _values(self, board: Board) -> Sequence[Any]:
        rows = board.rows
        if self.column == METHOD:
            return [entry.method.casefold() for entry in rows.entries]
        if self.column == SUBMITTED:
            return [entry.submitted_at for entry in rows.entries]
        if self.column == MEAN:
            return rows.tables[board.metric].shown(0)
        if self.column in set(board.others):
            return rows.tables[Metric(self.column)].shown(0)
        for figure in board.competition.figures:
            if self.column == figure.column:
                return [entry.declared.value(figure) for entry in rows.entries]
        columns = [name for name, _ in class_columns(board, by_group=self.by_group)]
        return self.table(board).shown(1 + columns.index(self.column))


def class_columns(board: Board, *, by_group: bool) -> list[tuple[str, str]]:
    """Return names in addresses, and headings, of the columns of classes or of their groups."""
    if by_group:
        return [(f"{OF_GROUP}{name}", name) for name in board.groups]
    return [(name, name) for name in board.classes]


def _ascending_at_first(board: Board, metric: Metric | None) -> frozenset[str]:
    """Return the columns with ascending natural order: rank, name, declared numbers, metrics where lower is better.

    Args:
        metric: whose scores by class are shown; None for the one that ranks.
    """
    errors = {other.value for other in board.others if not METRICS[other].higher_is_better}
    if not METRICS[board.metric].higher_is_better:
        errors.add(MEAN)
    if not METRICS[metric or board.metric].higher_is_better:
        errors.update(board.classes, (f"{OF_GROUP}{name}" for name in board.groups))
    figures = {each.column for each in board.competition.figures}
    return ASCENDING_AT_FIRST | errors | figures


def _metric(asked: str | None, board: Board) -> Metric | None:
    """Return the measure whose scores by class are asked for; None for the one that ranks."""
    if asked is None:
        return None
    return next((each for each in board.class_metrics[1:] if each == asked), None)


def _page(text: str, rows: int) -> int:
    wanted = int(text) if text.isascii() and text.isdigit() and len(text) < 7 else 1
    return min(max(wanted, 1), max(-(-rows // PER_PAGE), 1))


def _identifiers(texts: Sequence[str]) -> tuple[uuid.UUID, ...]:
    found = []
    for text in texts[: 2 * MAX_COMPARED]:
        try:
            found.append(uuid.UUID(text))
        except ValueError:
            continue
    return tuple(dict.fromkeys(found))[:MAX_COMPARED]


def _matches(board: Board, place: int, text: str) -> bool:
    entry = board.rows.entries[place]
    searched = f"{entry.method} {entry.team} {entry.contributors} {entry.affiliation}".casefold()
    return all(word in searched for word in text.casefold().split())
