"""Leaderboard pages, sorted and filtered on the server."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from fastapi.concurrency import run_in_threadpool
from markupsafe import Markup
from starlette.responses import Response

from vocboard.app.challenges import service as challenges
from vocboard.app.challenges.service import PhaseState
from vocboard.app.database import now
from vocboard.app.leaderboards.current import CurrentBoard, HiddenLeaderboardError
from vocboard.app.leaderboards.service import Board, BoardRow, Cell, Part
from vocboard.app.pages.challenges import competitions_of
from vocboard.app.pages.rendering import environment, render, theme_of
from vocboard.app.pages.results import curve_kind
from vocboard.app.web.cached_responses import KEPT_BUT_ASKED_FOR, Rendering, answer
from vocboard.app.web.dependencies import BoardsDep
from vocboard.app.web.identity import CurrentIdentity
from vocboard.evaluator.editions import Metric
from vocboard.evaluator.tasks.definitions import METRICS

router = APIRouter()

RANK, METHOD, MEAN, SUBMITTED = "rank", "method", "mean", "submitted"
LONGEST_FILTER = 200  # characters
ASCENDING_AT_FIRST = frozenset({RANK, METHOD})


@dataclass(frozen=True, slots=True)
class Order:
    """The sort order of a leaderboard.

    Attributes:
        column: rank, method, mean, submitted, another measure of the board, or a class.
        is_chosen: whether the address says so; else it is by rank.
        ascending_at_first: columns that the first click sorts upwards.
        part: fields of the address that say which phase and results are shown.
    """

    column: str
    descending: bool
    filter: str
    is_chosen: bool
    ascending_at_first: frozenset[str] = ASCENDING_AT_FIRST
    part: tuple[tuple[str, str], ...] = ()

    @classmethod
    def asked(
        cls, sort: str | None, order: str | None, text: str, board: Board, part: tuple[tuple[str, str], ...] = ()
    ) -> "Order":
        """The order that an address asks for; by rank where it makes no sense."""
        if sort is None or sort not in {RANK, METHOD, MEAN, SUBMITTED, *board.others, *board.classes}:
            return cls(RANK, False, text, False, _ascending_at_first(board), part)
        ascending = _ascending_at_first(board)
        descending = order == "desc" if order in {"asc", "desc"} else sort not in ascending
        return cls(sort, descending, text, True, ascending, part)

    def address(self, column: str) -> str:
        """Return the query that sorts by a column: first in its natural order, then reversed."""
        descending = column not in self.ascending_at_first
        if column == self.column:
            descending = not self.descending
        query = {**dict(self.part), "sort": column, "order": "desc" if descending else "asc"}
        return "?" + urlencode(query | ({"q": self.filter} if self.filter else {}))

    def sorted(self, rows: Sequence[BoardRow], board: Board) -> list[BoardRow]:
        """Return the sorted rows: better ranks first among equals, undefined and missing scores last."""
        if self.column == RANK:
            ranked = [row for row in rows if row.rank is not None]
            others = [row for row in rows if row.rank is None]
            return (ranked[::-1] if self.descending else ranked) + others
        value = self._value(board)
        defined = [row for row in rows if value(row) is not None]
        undefined = [row for row in rows if value(row) is None]
        return sorted(defined, key=value, reverse=self.descending) + undefined

    def _value(self, board: Board) -> Callable[[BoardRow], Any]:
        if self.column == METHOD:
            return lambda row: row.method.casefold()
        if self.column == SUBMITTED:
            return lambda row: row.submitted_at
        if self.column == MEAN:
            return lambda row: row.mean.value
        if self.column in set(board.others):
            other = board.others.index(Metric(self.column))
            return lambda row: row.others[other].value
        index = board.classes.index(self.column)
        return lambda row: _shown(row.cells[index])


def _ascending_at_first(board: Board) -> frozenset[str]:
    """Return the columns with ascending natural order: rank, name, and metrics where lower is better."""
    errors = {other.value for other in board.others if not METRICS[other].higher_is_better}
    if not METRICS[board.metric].higher_is_better:
        errors |= {MEAN, *board.classes}
    return ASCENDING_AT_FIRST | errors


@router.get("/challenges/{slug}/leaderboards/{competition}")
async def leaderboard_page(
    request: Request,
    boards: BoardsDep,
    identity: CurrentIdentity,
    slug: str,
    competition: str,
    sort: str | None = None,
    order: str | None = None,
    q: Annotated[str, Query(max_length=LONGEST_FILTER)] = "",
    phase: str | None = None,
    results: Part = Part.COUNTING,
) -> Response:
    """The leaderboard of one competition.

    Visitors share one cached, compressed page. Pages of signed-in users contain a CSRF token, so only their rows are
    cached.
    """
    try:
        current = await boards.get(slug, competition, identity.user, phase_key=phase, part=results)
    except HiddenLeaderboardError as error:
        return await run_in_threadpool(_hidden_page, request, error)
    part = (("phase", phase),) if phase else ()
    if results is Part.LATER:
        part = (*part, ("results", results.value))
    text = " ".join(q.split())
    asked = Order.asked(sort, order, text, current.board, part)
    state = current.phase.state(now())
    if text:
        return await run_in_threadpool(lambda: _page(request, current, asked, _rows(current.board, asked), state))
    rows = await boards.rendered(current, asked, lambda: _rows(current.board, asked))
    if identity.user is not None or "done" in request.query_params:
        return await run_in_threadpool(_page, request, current, asked, rows, state)
    page = await boards.rendered(
        current,
        (asked, state, theme_of(request)),
        lambda: Rendering.of(bytes(_page(request, current, asked, rows, state).body), "text/html"),
    )
    return answer(request, page, {"Cache-Control": KEPT_BUT_ASKED_FOR})


def _page(request: Request, current: CurrentBoard, asked: Order, rows: Markup, state: PhaseState) -> Response:
    challenge, board = current.challenge, current.board
    return render(
        request,
        "leaderboard.html",
        challenge=challenge,
        competition=board.competition,
        competitions=competitions_of(challenge, current.phase),
        phases=[each for each in challenges.phases_of(challenge) if board.competition.key in each.competitions],
        board=board,
        rows=rows,
        order=asked,
        filter=asked.filter,
        has_curves=board.has_curves,
        curve_kind=curve_kind(board.competition),
        phase=current.phase,
        phase_query="".join(f"?phase={value}" for name, value in asked.part if name == "phase"),
        query="?" + urlencode(asked.part) if asked.part else "",
        is_visible=current.phase.is_leaderboard_visible(now()),
        state=state,
    )


def _hidden_page(request: Request, error: HiddenLeaderboardError) -> Response:
    return render(request, "hidden_leaderboard.html", status=error.status, challenge=error.challenge, phase=error.phase)


def _rows(board: Board, asked: Order) -> Markup:
    """Return the rows of the table, which are most of the page."""
    rows = asked.sorted([row for row in board.rows if _matches(row, asked.filter)], board)
    template = environment().get_template("leaderboard_rows.html")
    return Markup(  # noqa: S704  # the template escapes
        template.render(board=board, competition=board.competition, rows=rows, has_curves=board.has_curves)
    )


def _shown(cell: Cell) -> float | None:
    return cell.value if cell.is_entered else None


def _matches(row: BoardRow, text: str) -> bool:
    searched = f"{row.method} {row.contributors} {row.affiliation}".casefold()
    return all(word in searched for word in text.casefold().split())
