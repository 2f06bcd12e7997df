"""Comparison of methods on a leaderboard: scores of each class side by side, curves of one class, and differences."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from fastapi import Request
from fastapi.concurrency import run_in_threadpool
from starlette.responses import Response

from vocboard.app.accounts.models import User
from vocboard.app.challenges import files
from vocboard.app.challenges.phases import edition_of_phase
from vocboard.app.database import Database
from vocboard.app.evaluations import showcase
from vocboard.app.evaluations.results import published_curves
from vocboard.app.evaluations.visible import VisibleCurve
from vocboard.app.leaderboards.board import Board, BoardRow, Cell
from vocboard.app.leaderboards.current import CurrentBoard, HiddenLeaderboardError
from vocboard.app.leaderboards.differences import Differences
from vocboard.app.leaderboards.shown_statistics import MEAN, differences
from vocboard.app.leaderboards.statistics import MAX_METHODS_BY_CLASS
from vocboard.app.pages import wording
from vocboard.app.pages.board_state import MAX_COMPARED, BoardState, part_of
from vocboard.app.pages.charts import Dot, Scale, curve_plot, dots
from vocboard.app.pages.leaderboards import hidden_page
from vocboard.app.pages.rendering import render
from vocboard.app.pages.results import curve_kind
from vocboard.app.pages.showcase import FIELD, Gallery, gallery
from vocboard.app.web.dependencies import BoardsDep, DatabaseDep
from vocboard.app.web.identity import CurrentIdentity
from vocboard.app.web.routes import Routes
from vocboard.evaluator.tasks.definitions import METRICS

router = Routes()


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
    phase, part = part_of(request.query_params)
    try:
        current = await boards.get(slug, competition, identity.user, phase_key=phase, part=part)
    except HiddenLeaderboardError as error:
        return await run_in_threadpool(hidden_page, request, error)
    state = BoardState.of(request.query_params, current.board)
    return await run_in_threadpool(_page, request, database, current, state, identity.user)


def _page(
    request: Request, database: Database, current: CurrentBoard, state: BoardState, viewer: User | None
) -> Response:
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
    scale = Scale.over(cell.value for row in rows for cell in row.cells)
    paired = paired_differences(database, board, chosen)
    ends = [end for row in paired for cell in row.cells if cell for end in (cell.difference, cell.low, cell.high)]
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
        paired=paired,
        scale_of_differences=Scale.over([0.0, *ends]),
        scale=scale,
        class_name=name,
        has_curves=has_curves,
        plot=curve_plot(named, kind, f"{wording.CURVES[kind]}: {name}"),
        without=[row.method for series, row in enumerate(chosen) if series not in curves or not curves[series].points],
        step=next((curve.step for curve in curves.values() if curve.step), None),
        is_left_out=any(curve.is_left_out for curve in curves.values()),
        curve_kind=kind,
        max_compared=MAX_COMPARED,
        showcase=_showcase(database, current, chosen, viewer, per_image=request.query_params.get(FIELD)),
    )


def _showcase(
    database: Database,
    current: CurrentBoard,
    chosen: Sequence[BoardRow],
    viewer: User | None,
    *,
    per_image: str | None,
) -> Gallery | None:
    """Return what the methods found on the images of the challenge's showcase; None if nothing is drawn."""
    challenge, phase, competition = current.challenge, current.phase, current.board.competition
    with database.reading() as session:
        images = files.showcase_of(session, challenge.id)
        ids = [row.submission_id for row in chosen if row.submission_id is not None]
        found = showcase.visible_drawings(session, ids, viewer) if images else {}
    drawings = [found.get(row.submission_id, {}) if row.submission_id else {} for row in chosen]
    shown = gallery(challenge, edition_of_phase(challenge, phase), competition, images, drawings, per_image=per_image)
    return shown if shown.images else None


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
    results = {entry.submission_id: entry.result_id for entry in current.board.rows.entries}
    with database.reading() as session:
        found = published_curves(
            session,
            {submission_id: results[submission_id] for submission_id in numbers},
            current.board.competition.key,
            name,
            detail=current.phase.rules.detail,
            has_ladder=current.board.ladder_step is not None,
        )
    return {numbers[submission_id]: curve for submission_id, curve in found.items()}


@dataclass(frozen=True, slots=True)
class PairedCell:
    """The score of a method minus that of the first one, and its interval: fractions as shown.

    Attributes:
        is_significant: whether the interval does not contain 0.
    """

    difference: float
    low: float
    high: float
    is_significant: bool


@dataclass(frozen=True, slots=True)
class PairedRow:
    """The differences in one column of the leaderboard.

    Attributes:
        cells: one for each method but the first; None where a score is undefined, or the method was not compared.
        reason: why no method is compared in it; empty if one is.
    """

    name: str
    cells: tuple[PairedCell | None, ...]
    reason: str


def paired_differences(database: Database, board: Board, chosen: Sequence[BoardRow]) -> list[PairedRow]:
    """Return the differences of the means, and of each class that the leaderboard shows; empty without statistics.

    A row without any difference says why, also if all rows are without.

    Args:
        chosen: rows of the leaderboard; the others are compared with the first.
    """
    statistics = board.statistics
    if statistics is None or not statistics.is_current or statistics.statistics_id is None or len(chosen) < 2:
        return []
    if not statistics.methods:
        return []
    with database.reading() as session:
        known = differences(session, statistics.statistics_id, [MEAN, *board.classes])
    results = {entry.submission_id: entry.result_id for entry in board.rows.entries}
    rows = [_row("Mean", known.get(MEAN), [row.mean for row in chosen], chosen, results, statistics.decimals)]
    why_not = "fewer than ten test images show the class, or determine the difference"
    if len(board.rows) > MAX_METHODS_BY_CLASS:
        why_not = f"not compared by class on leaderboards of more than {MAX_METHODS_BY_CLASS} methods"
    for place, name in enumerate(board.classes):
        cells = [row.cells[place] for row in chosen]
        rows.append(_row(name, known.get(name), cells, chosen, results, statistics.decimals, why_not))
    return rows


def _row(
    name: str,
    known: Differences | None,
    cells: Sequence[Cell],
    chosen: Sequence[BoardRow],
    results: Mapping[uuid.UUID, uuid.UUID | None],
    decimals: int,
    why_not: str = "not all classes entered, or fewer than ten test images determine the difference",
) -> PairedRow:
    def paired(place: int) -> PairedCell | None:
        first, other = (row.submission_id and results.get(row.submission_id) for row in (chosen[0], chosen[place]))
        ours, theirs = cells[place].value, cells[0].value
        if known is None or first is None or other is None or ours is None or theirs is None:
            return None
        found = known.of(other, first, decimals)
        if found is None:
            return None
        return PairedCell(ours - theirs, found.low, found.high, found.is_significant)

    found = tuple(paired(place) for place in range(1, len(chosen)))
    if any(found):
        return PairedRow(name, found, "")
    values = [cell.value for cell in cells]
    is_undefined = values[0] is None or all(value is None for value in values[1:])
    return PairedRow(name, found, "score undefined, or class not entered" if is_undefined else why_not)
