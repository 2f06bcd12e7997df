"""Leaderboard pages, sorted, filtered and paged on the server."""

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from fastapi import Request
from fastapi.concurrency import run_in_threadpool
from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup
from starlette.responses import Response

from vocboard.app.accounts.models import User
from vocboard.app.challenges import service as challenges
from vocboard.app.challenges.phases import PhaseState, phases_of
from vocboard.app.database import now
from vocboard.app.leaderboards import frontiers, queries
from vocboard.app.leaderboards.board import Board
from vocboard.app.leaderboards.current import CurrentBoard, HiddenLeaderboardError
from vocboard.app.leaderboards.methods import address
from vocboard.app.leaderboards.statistics import MAX_METHODS
from vocboard.app.pages import wording
from vocboard.app.pages.board_rows import RepeatedTexts, RowsPage, marked, render_page
from vocboard.app.pages.board_state import (
    HIDEABLE,
    MAX_COMPARED,
    PER_PAGE,
    BoardState,
    View,
    class_columns,
    part_of,
    views_of,
)
from vocboard.app.pages.challenges import competitions_of
from vocboard.app.pages.charts import SMALL, WINDOWS, ChartSize, class_strips, date_text, frontier_chart
from vocboard.app.pages.rank_chart import rank_chart
from vocboard.app.pages.rendering import environment, render, theme_of
from vocboard.app.submissions.forms import format_number
from vocboard.app.web.cached_responses import KEPT_BUT_ASKED_FOR, Rendering, answer
from vocboard.app.web.dependencies import ServicesDep
from vocboard.app.web.identity import CurrentIdentity
from vocboard.app.web.routes import Routes
from vocboard.evaluator.declarations import Declaration
from vocboard.evaluator.editions import Competition

router = Routes()
NONE: frozenset[UUID] = frozenset()
RANKED = 20  # methods that are named to search engines


@router.get("/challenges/{slug}/leaderboards/{competition}")
async def leaderboard_page(
    request: Request,
    services: ServicesDep,
    identity: CurrentIdentity,
    slug: str,
    competition: str,
) -> Response:
    """The leaderboard of one competition.

    Visitors share one cached, compressed page. Pages of signed-in users contain a CSRF token and mark their own rows,
    so only the rows as others see them are cached.
    """
    asked, boards = request.query_params, services.boards
    phase, part = part_of(asked)
    try:
        current = await boards.get(slug, competition, identity.user, phase_key=phase, part=part)
    except HiddenLeaderboardError as error:
        return await run_in_threadpool(hidden_page, request, error)
    board, opened = current.board, current.phase.state(now())
    page_key: tuple[Hashable, ...] = ("page", opened, theme_of(request))
    is_plain = identity.user is None and not asked  # as most requests are
    if is_plain and (cached := boards.cached_rendering(current, page_key)) is not None:
        return answer(request, cached, {"Cache-Control": KEPT_BUT_ASKED_FOR})
    state = BoardState.of(asked, board)
    if state.filter:
        rows = await run_in_threadpool(render_page, board, state)
    else:
        rows = await boards.rendered(current, ("rows", state.of_rows), lambda: render_page(board, state))
    state = replace(state, page=min(state.page, rows.pages))
    drawing = await boards.rendered(current, ("progress", state.part), lambda: _progress(board, state, [SMALL]))
    view = Markup("")
    if state.view is not View.TABLE:
        view_key = ("view", state.view, state.metric, state.part)
        view = await boards.rendered(current, view_key, lambda: _view(board, state))

    def page(own: Collection[UUID] = NONE, *, is_organiser: bool = False) -> Response:
        site, drawings = services.settings.public_url, (drawing, view)
        return _page(request, current, state, rows, drawings, opened, own=own, is_organiser=is_organiser, site=site)

    def page_of(user: User) -> Response:
        with services.database.reading() as session:
            own = queries.submitted_by(session, current.challenge, user)
            is_organiser = challenges.is_organiser(session, current.challenge, user)
        return page(own, is_organiser=is_organiser)

    if identity.user is not None:
        return await run_in_threadpool(page_of, identity.user)
    if state.filter or state.methods or "done" in asked:
        return await run_in_threadpool(page)
    if not is_plain:
        page_key = (*page_key, state)
    rendering = await boards.rendered(current, page_key, lambda: Rendering.of(bytes(page().body), "text/html"))
    return answer(request, rendering, {"Cache-Control": KEPT_BUT_ASKED_FOR})


def _progress(board: Board, state: BoardState, sizes: Sequence[ChartSize]) -> Markup:
    frontier = frontiers.progress(board)
    charts = [frontier_chart(frontier, size, date_text) for size in sizes]
    return _drawing("frontier.html", board, state, charts=charts, figure=None)


def _view(board: Board, state: BoardState) -> Markup:
    """Return what is shown instead of the table."""
    if state.view is View.PROGRESS:
        return _progress(board, state, WINDOWS)
    if state.view is View.CLASSES:
        metric = state.metric or board.metric
        strips = _drawing("class_strips.html", board, state, strips=class_strips(board, metric))
        ranks = rank_chart(board, metric)
        return strips if ranks is None else strips + _drawing("rank_chart.html", board, state, chart=ranks)
    return Markup("").join(_figure(board, state, figure) for figure in board.competition.figures)


def _figure(board: Board, state: BoardState, figure: Declaration) -> Markup:
    frontier = frontiers.against(board, figure)
    charts = [frontier_chart(frontier, size, format_number, is_logarithmic=True) for size in WINDOWS]
    return _drawing("frontier.html", board, state, charts=charts, figure=figure)


def _drawing(template: str, board: Board, state: BoardState, **contents: Any) -> Markup:
    found = environment().get_template(template)
    part = urlencode(state.part)
    return Markup(found.render(board=board, per_page=PER_PAGE, part=part, **contents))  # noqa: S704  # the template escapes


def _hideable(board: Board) -> dict[str, str]:
    """Return the parts of the table that a leaderboard has and a reader can hide, with their names."""
    has = {
        "ranks": board.statistics is not None and bool(board.statistics.methods),
        "other": bool(board.others),
        "figure": bool(board.competition.figures),
        "classes": bool(board.classes),
        "reported": bool(board.reported),
        "declared": len(board.competition.declarations) > len(board.competition.figures),
    }
    return {name: title for name, title in HIDEABLE.items() if has.get(name, True)}


def _page(
    request: Request,
    current: CurrentBoard,
    state: BoardState,
    rows: RowsPage,
    drawings: tuple[Markup, Markup],
    opened: PhaseState,
    *,
    own: Collection[UUID],
    is_organiser: bool,
    site: str,
) -> Response:
    challenge, board = current.challenge, current.board
    drawing, view = drawings
    chosen = board.chosen(state.methods)
    return render(
        request,
        "leaderboard.html",
        here=request.url.path + state.address(),  # not as it was asked for: all visitors get the same page
        challenge=challenge,
        competition=board.competition,
        switch=switch(competitions_of(challenge, current.phase), board.competition, current.counts),
        phases=[each for each in phases_of(challenge) if board.competition.key in each.competitions],
        board=board,
        metric=state.metric or board.metric,
        repeated=RepeatedTexts.of(board),
        rows=marked(rows, board, state, own=own, chosen=[each.submission_id for each in chosen if each.submission_id]),
        shown=rows,
        on_page={board.rows.entries[place].submission_id for place in rows.places}
        if chosen and state.view is View.TABLE
        else NONE,
        chosen=chosen,
        max_compared=MAX_COMPARED,
        max_methods_with_statistics=MAX_METHODS,
        per_page=PER_PAGE,
        state=state,
        drawing=drawing,
        view=view,
        views=views_of(board),
        class_columns=class_columns(board, by_group=state.by_group),
        hideable=_hideable(board),
        is_organiser=is_organiser,
        phase=current.phase,
        phase_query="".join(f"?phase={value}" for name, value in state.part if name == "phase"),
        query="?" + urlencode(state.part) if state.part else "",
        is_visible=current.phase.is_leaderboard_visible(now()),
        is_open=opened is PhaseState.OPEN,
        site=site,
        ranking=ranking(board, site),
    )


def ranking(board: Board, site: str) -> Markup:
    """Return the first ranks as search engines read them, as JSON that can stand in a script element.

    Source: schema.org, ItemList.
    """
    items = [
        {
            "@type": "ListItem",
            "position": row.rank,
            "name": row.method,
            **({"url": address(site, row.links.method_id)} if row.links.method_id else {}),
        }
        for row in board.rows[:RANKED]
        if row.rank is not None
    ]
    name = f"{board.challenge_title}: {wording.board_title(board.competition)}"
    found = {"@context": "https://schema.org", "@type": "ItemList", "name": name, "numberOfItems": len(board.rows)}
    return htmlsafe_json_dumps({**found, "itemListElement": items})


def hidden_page(request: Request, error: HiddenLeaderboardError) -> Response:
    """Return the page of a leaderboard that will be visible later, with links to those of other phases."""
    at = now()
    others = [
        phase
        for phase in phases_of(error.challenge)
        if phase.key != error.phase.key and phase.has_opened(at) and phase.is_leaderboard_visible(at)
    ]
    return render(
        request,
        "hidden_leaderboard.html",
        status=error.status,
        challenge=error.challenge,
        phase=error.phase,
        others=others,
    )


@dataclass(frozen=True, slots=True)
class Choice:
    """A link to a leaderboard.

    Attributes:
        title: what it is of, in full.
        count: methods on it.
    """

    label: str
    title: str
    key: str
    count: int
    is_current: bool


@dataclass(frozen=True, slots=True)
class Switch:
    """Leaderboards by task, and those of the current task by what methods may be trained on."""

    tasks: tuple[Choice, ...]
    training: tuple[Choice, ...]


def switch(competitions: Sequence[Competition], current: Competition, counts: Mapping[str, int]) -> Switch:
    """Return the links; those to other tasks lead to the same training data, or to entries where there are none.

    Args:
        counts: methods by competition.
    """
    by_task: dict[str, list[Competition]] = {}
    for each in competitions:
        by_task.setdefault(wording.short_task_title(each), []).append(each)
    tasks = []
    for label, group in by_task.items():
        best = max(group, key=lambda each: (counts.get(each.key, 0) > 0, each.training == current.training))
        shown = current if current in group else best
        tasks.append(_choice(shown, label, counts, is_current=current in group))
    same_task = by_task.get(wording.short_task_title(current), [])
    training = [
        _choice(each, wording.SHORT_TRAINING[each.training], counts, is_current=each == current) for each in same_task
    ]
    return Switch(tuple(tasks), tuple(training))


def _choice(competition: Competition, label: str, counts: Mapping[str, int], *, is_current: bool) -> Choice:
    title = wording.competition_title(competition)
    return Choice(label, title, competition.key, counts.get(competition.key, 0), is_current)
