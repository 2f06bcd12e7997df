"""All leaderboards of a phase on one page: which method entered which competition, and test sets side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from fastapi import Request
from fastapi.concurrency import run_in_threadpool
from markupsafe import Markup
from starlette.responses import Response

from vocboard.app.challenges.phases import phases_of
from vocboard.app.database import now
from vocboard.app.leaderboards.board import Board, BoardRow
from vocboard.app.leaderboards.current import CurrentBoard, HiddenLeaderboardError
from vocboard.app.leaderboards.participation import (
    Overall,
    Participant,
    SetComparison,
    compare_test_sets,
    overall,
    participants,
)
from vocboard.app.pages.board_rows import title_of
from vocboard.app.pages.board_state import PER_PAGE
from vocboard.app.pages.challenges import competitions_of, read_challenge, shown_on_all_tabs
from vocboard.app.pages.charts import Dot, Scale, dots
from vocboard.app.pages.filters import page_number
from vocboard.app.pages.leaderboards import hidden_page
from vocboard.app.pages.rendering import environment, render
from vocboard.app.web.dependencies import BoardsDep, DatabaseDep
from vocboard.app.web.identity import CurrentIdentity
from vocboard.app.web.routes import Routes
from vocboard.evaluator.rules import Training

router = Routes()
MAX_COMPARED = 50  # methods of a comparison of test sets


@dataclass(frozen=True, slots=True)
class ComparedSets:
    """What is shown of two test sets: for each method its row on both leaderboards, and the dots of both means."""

    sets: SetComparison
    scale: Scale
    rows: tuple[tuple[BoardRow, BoardRow, tuple[Dot, ...]], ...]


@router.get("/challenges/{slug}/leaderboards")
async def participation_page(
    request: Request,
    database: DatabaseDep,
    boards: BoardsDep,
    identity: CurrentIdentity,
    slug: str,
    phase: str | None = None,
    phases: str = "",
) -> Response:
    """Methods by competition, in one phase or all."""
    has_all = phases == "all"
    try:
        if has_all:
            phase = None
            first, shown = await boards.of_all_phases(slug, identity.user)
        else:
            first, shown = await boards.with_entries(slug, identity.user, phase_key=phase)
    except HiddenLeaderboardError as error:
        return await run_in_threadpool(hidden_page, request, error)
    found = [current.board for current in shown]
    trainings = [board.competition.training for board in found]
    in_order = sorted(found, key=lambda board: trainings.index(board.competition.training))
    last = -(-sum(len(board.rows) for board in found) // PER_PAGE)
    number = min(page_number(request), last)  # or the cache could be filled
    tables = await boards.rendered(
        first,
        ("participation", phase, number, tuple(one.identity for one in shown) if has_all else None),
        lambda: _tables(first, in_order, phase, number, has_all=has_all),
    )
    read = await run_in_threadpool(read_challenge, database, slug, identity.user)
    head = shown_on_all_tabs(read, now())
    return await run_in_threadpool(_page, request, first, in_order, tables, phase, head, has_all=has_all)


def _page(
    request: Request,
    first: CurrentBoard,
    found: Sequence[Board],
    tables: Markup,
    phase: str | None,
    head: Mapping[str, Any],
    *,
    has_all: bool,
) -> Response:
    return render(
        request,
        "participation.html",
        **head,
        phase_query=f"?phase={phase}" if phase else "",
        found=found,
        shown_phases=phases_of(first.challenge),
        shown_phase=None if has_all else first.phase.key,
        without=[]
        if has_all
        else [each for each in competitions_of(first.challenge, first.phase) if not first.counts.get(each.key)],
        tables=tables,
    )


def _tables(first: CurrentBoard, found: Sequence[Board], phase: str | None, number: int, *, has_all: bool) -> Markup:
    methods, by = participants(found), first.challenge.overall_rank
    ranked = overall(found, methods, by)
    order = sorted(range(len(methods)), key=lambda number: (_group(found, methods[number]), _best(ranked, number)))
    pages = max(-(-len(methods) // PER_PAGE), 1)
    number = min(max(number, 1), pages)
    shown = order[(number - 1) * PER_PAGE : number * PER_PAGE]
    rows = [
        (methods[place], [methods[place].row_on(board) for board in found], [one.get(place) for one in ranked.values()])
        for place in shown
    ]
    sets = [] if has_all else [_compared(each) for each in compare_test_sets(found, methods)]
    template = environment().get_template("participation_tables.html")
    return Markup(  # noqa: S704  # the template escapes
        template.render(
            boards=found,
            rows=rows,
            overall=list(ranked),
            by=by.value,
            has_limits=any(one.limits for group in ranked.values() for one in group.values()),
            title_of=title_of,
            sets=sets,
            count=len(methods),
            number=number,
            pages=pages,
            per_page=PER_PAGE,
            phase=phase,
            phases={each.key: each.title for each in phases_of(first.challenge)} if has_all else {},
            decimals=found[0].decimals if found else 0,
        )
    )


def _group(boards: Sequence[Board], method: Participant) -> int:
    """Return where the columns begin that have the most of a method's results, by training data."""
    entered = [board.competition.training for board in boards if method.is_on(board)]
    most = max(entered, key=entered.count)
    return next(place for place, board in enumerate(boards) if board.competition.training is most)


def _best(ranked: Mapping[Training, Mapping[int, Overall]], number: int) -> float:
    """Return the best overall rank of a method; methods without one are last."""
    return min((one[number].rank for one in ranked.values() if number in one), default=inf)


def _compared(sets: SetComparison) -> ComparedSets:
    rows = sets.rows[:MAX_COMPARED]
    scale = Scale.over([row.mean.value for pair in rows for row in pair if row.mean.value is not None])
    return ComparedSets(
        sets,
        scale,
        tuple((one, other, tuple(dots((one.mean, other.mean), scale))) for one, other in rows),
    )
