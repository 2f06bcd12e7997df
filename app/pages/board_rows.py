"""The rows of a leaderboard's page, with intervals and rank ranges."""

import uuid
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from statistics import fmean

import numpy as np
from markupsafe import Markup

from vocboard.app.leaderboards.board import Board, BoardRow, Cell
from vocboard.app.leaderboards.entries import Entry
from vocboard.app.leaderboards.models import ReportedResult
from vocboard.app.leaderboards.score_tables import ScoreTable
from vocboard.app.leaderboards.statistics import Interval
from vocboard.app.pages.board_state import PER_PAGE, BoardState, class_columns
from vocboard.app.pages.charts import Scale
from vocboard.app.pages.formats import percent
from vocboard.app.pages.rendering import environment
from vocboard.evaluator.editions import Declaration, Metric

MAX_TITLE_LENGTH = 200  # characters of the text that appears over a name
FOREST_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5)
FOREST_TICKS = 5  # board-table.css has a grid for each number of ticks from 2 on


@dataclass(frozen=True, slots=True)
class RowsPage:
    """One page of rows.

    Attributes:
        places: of these rows on the leaderboard.
        markup: of each.
        below: markup of the results that were not scored here, below the others.
        among: the same for those among the others, by the index of the row that they stand before.
        found: how many rows all pages have.
        forest: their column of drawings.
        legend: the signs of the whole leaderboard.
    """

    places: tuple[int, ...]
    markup: tuple[str, ...]
    below: tuple[str, ...]
    among: Mapping[int, Sequence[str]]
    found: int
    forest: "Forest"
    legend: "Legend"

    def __len__(self) -> int:
        """Size in bytes, about."""
        reported = (*self.below, *chain(*self.among.values()))
        return sum(map(len, (*self.markup, *reported))) + 64 * len(self.places)

    @property
    def pages(self) -> int:
        """How many pages there are, at least one."""
        return max(-(-self.found // PER_PAGE), 1)


@dataclass(frozen=True, slots=True)
class RepeatedTexts:
    """What is the same in all rows, and is said once instead.

    Attributes:
        affiliation: empty if it differs.
        declared: by the name of the declaration, for those that are the same; never numbers, which have columns.
    """

    affiliation: str
    declared: dict[str, str]

    @classmethod
    def of(cls, board: Board) -> "RepeatedTexts":
        """Return what repeats on a leaderboard of at least two methods."""
        entries = board.rows.entries
        if len(entries) < 2:
            return cls("", {})
        first = entries[0]
        same_affiliation = all(entry.affiliation == first.affiliation for entry in entries)
        declared = {
            one.declaration.name: one.text or "not declared"
            for one in board.rows[0].declared
            if one.declaration not in board.competition.figures
            and all(_same(entry, first, one.declaration) for entry in entries)
        }
        return cls(first.affiliation if same_affiliation else "", declared)


@dataclass(frozen=True, slots=True)
class Certainty:
    """What rows of a leaderboard show of its statistics.

    Attributes:
        decimals: of fractions.
        has_group: whether methods beside the first cannot be distinguished from it.
    """

    decimals: int
    has_group: bool

    @classmethod
    def of(cls, board: Board) -> "Certainty | None":
        """Return that of a leaderboard; None if it shows no statistics, or nothing of them is known yet."""
        if board.statistics is None or not board.statistics.methods:
            return None
        in_group = [one for one in board.statistics.methods.values() if one.is_in_first_group]
        return cls(board.statistics.decimals, len(in_group) > 1)

    def interval(self, row: BoardRow) -> str:
        """Return the interval of the mean of a row; empty if there is none."""
        known = row.statistics
        return "" if known is None or known.mean is None else interval_text(known.mean, self.decimals)

    def is_tied(self, row: BoardRow) -> bool:
        """Whether a method is one of several of which the data do not show that one is better than the first."""
        return self.has_group and row.statistics is not None and row.statistics.is_in_first_group


@dataclass(frozen=True, slots=True)
class Forest:
    """The column in which means and their intervals are drawn, all on one scale."""

    scale: Scale

    @classmethod
    def of(cls, board: Board) -> "Forest":
        """Return that of a leaderboard, with a scale over what it shows."""
        values = [mean for mean in board.rows.tables[board.metric].shown(0) if mean is not None]
        values = values or [one.mean for one in board.reported if one.mean is not None]
        known = board.statistics.methods.values() if board.statistics else ()
        values += [end for one in known if one.mean is not None for end in one.mean]
        return cls(Scale.over(values, steps=FOREST_STEPS, max_ticks=FOREST_TICKS))

    def at(self, value: float) -> str:
        """Return where a value is, as an SVG length.

        >>> Forest(Scale(0.4, 0.8, ())).at(0.5)
        '25.0%'
        """
        return f"{100 * (value - self.scale.low) / (self.scale.high - self.scale.low):.1f}%"

    def has(self, value: float | None) -> bool:
        """Whether a value is on the scale, which follows what was scored here."""
        return value is not None and self.scale.low <= value <= self.scale.high

    @property
    def ticks(self) -> list[tuple[str, str]]:
        """Where each tick is, and its label: per cent."""
        return [(self.at(tick), f"{100 * tick:.0f}") for tick in self.scale.ticks]


@dataclass(frozen=True, slots=True)
class Legend:
    """Which signs a leaderboard has, so that its legend explains no others.

    Attributes:
        has_undefined: scores that are undefined, or not released.
        has_gaps: classes that a method did not enter.
        has_undeclared: numbers that were not declared.
        has_incomplete: means of methods that did not enter every class.
        has_group: methods that cannot be distinguished from the first.
    """

    has_undefined: bool
    has_gaps: bool
    has_undeclared: bool
    has_incomplete: bool
    has_group: bool

    @classmethod
    def of(cls, board: Board, metric: Metric) -> "Legend":
        """Return that of a leaderboard.

        Args:
            metric: whose scores of classes are shown.
        """
        entries, certainty = board.rows.entries, Certainty.of(board)
        table = board.rows.tables[metric]
        means = [board.rows.tables[each].scores[:, 0] for each in (board.metric, *board.others)]
        is_undefined = np.isnan(table.scores) & table.is_entered
        return cls(
            has_undefined=bool(is_undefined.any() or np.isnan(means).any()),
            has_gaps=not table.is_entered.all(),
            has_undeclared=any(e.declared.value(one) is None for one in board.competition.figures for e in entries),
            has_incomplete=not all(entry.is_complete for entry in entries),
            has_group=certainty is not None and certainty.has_group,
        )


def interval_text(interval: Interval, decimals: int) -> str:
    """Return an interval in per cent; without decimals if both ends are whole per cent, as those of coarse scores are.

    >>> interval_text(Interval(0.768, 0.792), 3), interval_text(Interval(0.74, 0.77), 3)
    ('76.8–79.2', '74–77')
    """
    ends = [percent(end, decimals) for end in (interval.low, interval.high)]
    if all(end.rpartition(".")[2].strip("0") == "" for end in ends):
        ends = [end.partition(".")[0] for end in ends]
    return "–".join(ends)


def render_page(board: Board, state: BoardState) -> RowsPage:
    """Render one page of rows, as everybody sees them; the last one if there are fewer pages than asked for."""
    places = state.places(board)
    last = max(-(-len(places) // PER_PAGE), 1)
    first = (min(max(state.page, 1), last) - 1) * PER_PAGE
    shown = places[first : first + PER_PAGE]
    forest, legend = Forest.of(board), Legend.of(board, state.metric or board.metric)
    table = _Table.of(board, state, forest)
    markup = tuple(_render(board, place, table) for place in shown)
    below, among = [], defaultdict(list)
    for one in board.reported:
        before = state.place_among(board, places, one.mean)
        if before is None:
            below.append(_render_reported(one, board, table))
        elif first <= before < first + PER_PAGE or before == len(places) == first + len(shown):
            among[before - first].append((one.mean, _render_reported(one, board, table)))
    return RowsPage(
        tuple(shown),
        markup,
        tuple(below),
        {before: _best_first(found, board) for before, found in among.items()},
        len(places),
        forest,
        legend,
    )


def _best_first(found: Sequence[tuple[float | None, str]], board: Board) -> list[str]:
    """Return the markup of results that stand before the same row."""
    is_higher_better = board.rows.tables[board.metric].higher_is_better
    return [markup for _, markup in sorted(found, key=lambda one: one[0] or 0.0, reverse=is_higher_better)]


def marked(
    page: RowsPage, board: Board, state: BoardState, *, own: Collection[uuid.UUID], chosen: Sequence[uuid.UUID]
) -> Markup:
    """Return the rows of a page for a reader.

    Args:
        own: the reader's submissions.
        chosen: the submissions of the board that are chosen, in the order of their colours.
    """
    series = {submission_id: number for number, submission_id in enumerate(chosen)}
    table = _Table.of(board, state, page.forest)
    entries = board.rows.entries
    lines: list[Markup] = []
    for number, (place, markup) in enumerate(zip(page.places, page.markup, strict=True)):
        lines += map(Markup, page.among.get(number, ()))
        submission_id = entries[place].submission_id
        colour = None if board.is_anonymous else series.get(submission_id)
        if submission_id in own or colour is not None:
            markup = _render(board, place, table, is_own=submission_id in own, series=colour)  # noqa: PLW2901
        lines.append(Markup(markup))  # noqa: S704  # the template escapes
    lines += map(Markup, page.among.get(len(page.places), ()))
    return Markup("\n").join(lines)


@dataclass(frozen=True, slots=True)
class _Table:
    """What a rendered row depends on besides itself.

    Attributes:
        competition: key.
        is_anonymous: whether rows have neither people nor links.
        decimals: of fractions.
        others: the metrics whose means are beside that of the primary one.
        declarations: how many each row makes, other than numbers.
        repeated: what is not said in each row.
        certainty: what is shown of intervals and rank ranges, if anything.
        forest: the column of drawings.
        scores: those of the classes or groups.
        reported: the classes of each of these columns; none where they show another metric than what is reported.
        key: the sorted column.
        key_class: place of the class or group that is sorted by.
    """

    competition: str
    is_anonymous: bool
    decimals: int
    others: tuple[Metric, ...]
    declarations: int
    repeated: RepeatedTexts
    certainty: Certainty | None
    forest: Forest
    scores: ScoreTable
    reported: Sequence[Sequence[str]]
    key: str | None
    key_class: int | None

    @classmethod
    def of(cls, board: Board, state: BoardState, forest: Forest) -> "_Table":
        """Return that of a leaderboard in one state of its page."""
        columns = [name for name, _ in class_columns(board, by_group=state.by_group)]
        groups = board.groups.values() if state.by_group else [(name,) for name in board.classes]
        return cls(
            competition=board.competition.key,
            is_anonymous=board.is_anonymous,
            decimals=board.decimals,
            others=tuple(board.others),
            declarations=len(board.competition.declarations) - len(board.competition.figures),
            repeated=RepeatedTexts.of(board),
            certainty=Certainty.of(board),
            forest=forest,
            scores=state.table(board),
            reported=[()] * len(columns) if state.metric else [*groups],
            key=state.column if state.is_sorted else None,
            key_class=columns.index(state.column) if state.column in columns else None,
        )


def _render(board: Board, place: int, table: _Table, *, is_own: bool = False, series: int | None = None) -> str:
    macro = environment().get_template("leaderboard_row.html").module.row  # type: ignore[attr-defined]
    row, cells = board.rows[place], _cells(table.scores.row(place)[1:], table)
    return str(macro(row, table, cells, is_own=is_own, series=series, title=title_of(row), people=people_of(row)))


def _render_reported(one: ReportedResult, board: Board, table: _Table) -> str:
    macro = environment().get_template("leaderboard_row.html").module.reported  # type: ignore[attr-defined]
    scores = [_mean_of(one, classes, table.decimals) for classes in table.reported]
    return str(macro(one, scores, len(board.competition.figures), table))


def _mean_of(one: ReportedResult, classes: Sequence[str], decimals: int) -> float | None:
    known = [one.per_class[name] for name in classes if name in one.per_class]
    if len(known) != len(classes) or not known:
        return None
    return known[0] if len(known) == 1 else round(fmean(known), decimals)


def _cells(cells: Sequence[Cell], table: _Table) -> Markup:
    """Return the cells of the classes; not in the template, because a page has thousands, of numbers alone."""
    parts = []
    for place, cell in enumerate(cells):
        kind = f"q{cell.quintile}" if cell.quintile else "none"
        if cell.is_best:
            kind += " best"
        if place == table.key_class:
            kind += " key"
        text = percent(cell.value, table.decimals) if cell.is_entered else "–"
        parts.append(f'<td class="{kind}">{text}</td>')
    return Markup("".join(parts))  # noqa: S704  # numbers, and words of ours


def _same(entry: Entry, other: Entry, declaration: Declaration) -> bool:
    return entry.declared.flickr_count == other.declared.flickr_count and (
        entry.declared.value(declaration) == other.declared.value(declaration)
    )


def title_of(row: BoardRow) -> str:
    """Return whom a row is of, shortened."""
    text = people_of(row)
    return text if len(text) <= MAX_TITLE_LENGTH else f"{text[:MAX_TITLE_LENGTH]}…"


def people_of(row: BoardRow) -> str:
    """Return whom a row is of, on one line."""
    return " · ".join(filter(None, (row.team, row.contributors, row.affiliation)))


def anchor(submission_id: uuid.UUID) -> str:
    """Return the name of a submission's row in addresses.

    >>> anchor(uuid.UUID("12345678-1234-4234-9234-123456789abc"))
    'm-12345678'
    """
    return f"m-{submission_id.hex[:8]}"
