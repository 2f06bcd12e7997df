"""Comparison of methods on a leaderboard: scores of each class side by side, and curves of one class."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from starlette.responses import Response

from vocboard.app.database import Database
from vocboard.app.evaluations.results import published_curves
from vocboard.app.evaluations.visible import VisibleCurve
from vocboard.app.leaderboards.board import BoardRow, Cell
from vocboard.app.leaderboards.current import CurrentBoard, HiddenLeaderboardError
from vocboard.app.pages import wording
from vocboard.app.pages.board_state import MAX_COMPARED, Asked, BoardState
from vocboard.app.pages.charts import Dot, Scale, curve_plot, dots
from vocboard.app.pages.leaderboards import hidden_page
from vocboard.app.pages.paired_differences import paired_differences
from vocboard.app.pages.rendering import render
from vocboard.app.pages.results import curve_kind
from vocboard.app.web.dependencies import BoardsDep, DatabaseDep
from vocboard.app.web.identity import CurrentIdentity
from vocboard.evaluator.tasks.registries.definitions import METRICS

router = APIRouter()


@dataclass(frozen=True, slots=True)
class ComparedClass:
    """The scores of the methods in one class, or their means.

    Attributes:
        best: the best of these scores; None if there is only one method, or nobody has a score. The mean of an
            incomplete entry does not compete.
    """

    name: str
    cells: tuple[Cell, ...]
    dots: tuple[Dot, ...]
    best: float | None


@router.get("/challenges/{slug}/leaderboards/{competition}/compare")
async def comparison_page(
    request: Request,
    boards: BoardsDep,
    database: DatabaseDep,
    identity: CurrentIdentity,
    slug: str,
    competition: str,
) -> Response:
    """The methods that the address names, side by side."""
    asked = Asked.of(request.query_params)
    try:
        current = await boards.get(slug, competition, identity.user, phase_key=asked.phase, part=asked.results)
    except HiddenLeaderboardError as error:
        return await run_in_threadpool(hidden_page, request, error)
    return await run_in_threadpool(_page, request, database, current, BoardState.of(asked, current.board))


def _page(request: Request, database: Database, current: CurrentBoard, state: BoardState) -> Response:
    board = current.board
    chosen = board.chosen(state.methods)
    name = state.class_name or (board.classes[0] if board.classes else None)
    has_curves = board.has_curves and name is not None
    curves = _curves(database, current, chosen, name) if has_curves and name else {}
    kind, named = (
        curve_kind(board.competition),
        {series: (chosen[series].method, each) for series, each in curves.items()},
    )
    higher_is_better = METRICS[board.metric].higher_is_better
    means, complete = [row.mean for row in chosen], [row.mean for row in chosen if row.is_complete]
    rows = [_compared("Mean", means, complete, higher_is_better=higher_is_better)]
    for place, each in enumerate(board.classes):
        cells = [row.cells[place] for row in chosen]
        rows.append(_compared(each, cells, cells, higher_is_better=higher_is_better))
    scale = Scale.over([cell.value for row in rows for cell in row.cells if cell.value is not None])
    return render(
        request,
        "compare.html",
        here=request.url.path + state.address(),
        challenge=current.challenge,
        competition=board.competition,
        board=board,
        state=state,
        others={str(row.submission_id): _without(state, row) for row in chosen},
        board_path=request.url.path.removesuffix("/compare"),
        chosen=chosen,
        rows=[replace(row, dots=tuple(dots(row.cells, scale))) for row in rows],
        paired=paired_differences(database, board, chosen),
        scale=scale,
        class_name=name,
        has_curves=has_curves,
        plot=curve_plot(named, kind, f"{wording.CURVES[kind]}: {name}"),
        without=[row.method for series, row in enumerate(chosen) if series not in curves or not curves[series].points],
        step=next((curve.step for curve in curves.values() if curve.step), None),
        is_left_out=any(curve.is_left_out for curve in curves.values()),
        curve_kind=kind,
        max_compared=MAX_COMPARED,
    )


def _without(state: BoardState, row: BoardRow) -> str:
    return replace(state, methods=tuple(each for each in state.methods if each != row.submission_id)).address()


def _compared(name: str, cells: Sequence[Cell], competing: Sequence[Cell], *, higher_is_better: bool) -> ComparedClass:
    # Of what is shown, so that of two scores that look equal both are bold.
    values = {cell.value for cell in competing if cell.value is not None}
    choose = max if higher_is_better else min
    return ComparedClass(name, tuple(cells), (), choose(values) if len(cells) > 1 and values else None)


def _curves(
    database: Database, current: CurrentBoard, chosen: Sequence[BoardRow], name: str
) -> Mapping[int, VisibleCurve]:
    """Return the curve of one class by the number of the method, for those that have one."""
    numbers = {row.submission_id: number for number, row in enumerate(chosen) if row.submission_id is not None}
    with database.reading() as session:
        found = published_curves(
            session,
            list(numbers),
            current.board.competition.key,
            name,
            detail=current.phase.rules.detail,
            has_ladder=current.board.ladder_step is not None,
        )
    return {numbers[submission_id]: curve for submission_id, curve in found.items()}
