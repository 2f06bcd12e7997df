"""Leaderboards as JSON, CSV and LaTeX."""

from enum import StrEnum
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from vocboard.app.api.problems import problem_responses
from vocboard.app.api.schemas.leaderboards import (
    Correction,
    Leaderboard,
    LeaderboardRow,
    LeaderboardStatistics,
    RankRange,
    Removal,
    ScoreInterval,
)
from vocboard.app.api.schemas.values import ImportedScores
from vocboard.app.challenges.models import MAIN_PHASE
from vocboard.app.errors import ServiceError
from vocboard.app.leaderboards import export
from vocboard.app.leaderboards.board import Board, BoardRow, Part
from vocboard.app.statistics.boards import UNKNOWN, Interval
from vocboard.app.web.cached_responses import KEPT_BUT_ASKED_FOR, Rendering, answer
from vocboard.app.web.dependencies import BoardsDep
from vocboard.app.web.identity import Viewer

router = APIRouter(tags=["leaderboards"])


class Format(StrEnum):
    """Formats of a leaderboard; each is also a file extension."""

    JSON = "json"
    CSV = "csv"
    LATEX = "tex"


MEDIA_TYPES = {Format.JSON: "application/json", Format.CSV: "text/csv", Format.LATEX: "application/x-tex"}
# Media types that clients use for LaTeX; none is registered.
_ACCEPTED = {
    "application/json": Format.JSON,
    "text/csv": Format.CSV,
    "application/x-tex": Format.LATEX,
    "application/x-latex": Format.LATEX,
    "text/x-tex": Format.LATEX,
}
_OTHER_FORMATS = {
    200: {
        "content": {
            MEDIA_TYPES[Format.CSV]: {"schema": {"type": "string"}},
            MEDIA_TYPES[Format.LATEX]: {"schema": {"type": "string"}},
        }
    }
}


class NotAcceptableError(ServiceError):
    """None of the formats that the client accepts is available."""

    status, code, title = 406, "not_acceptable", "Format not available"


@router.get(
    "/challenges/{slug}/leaderboards/{competition}",
    response_model=Leaderboard,
    responses=problem_responses(401, 403, 404) | _OTHER_FORMATS,  # type: ignore[operator]
)
async def leaderboard(
    request: Request,
    boards: BoardsDep,
    viewer: Viewer,
    slug: str,
    competition: str,
    wanted: Annotated[
        Format | None, Query(alias="format", description="Format of the response; overrides the `Accept` header.")
    ] = None,
    phase: Annotated[
        str | None, Query(description="Key of a phase; by default, the one whose leaderboards are shown first.")
    ] = None,
    results: Annotated[
        Part, Query(description="`later` returns the results that were published after the leaderboard was frozen.")
    ] = Part.COUNTING,
) -> Response:
    """Return the leaderboard of one competition as JSON, CSV or LaTeX.

    Choose the format with `?format=`, the `Accept` header or the file extension. One row per published method, ranked
    by the mean as shown; equal means share a rank, and the earlier submission is listed first.
    """
    name, dot, ending = competition.rpartition(".")
    if dot and ending in set(Format):
        competition, wanted = name, Format(ending)
    wanted = wanted or _accepted(request.headers.get("accept") or "*/*")
    current = await boards.get(slug, competition, viewer, phase_key=phase, part=results)
    rendering = await boards.rendered(current, wanted, lambda: _written(current.board, wanted))
    headers = {"Vary": "Accept"}
    if viewer is None:
        headers["Cache-Control"] = KEPT_BUT_ASKED_FOR
    if wanted is not Format.JSON:
        file_name = f"{_file_name(current.board)}.{wanted}"
        headers["Content-Disposition"] = f'attachment; filename="{file_name}"'
    return answer(request, rendering, headers)


def _file_name(board: Board) -> str:
    parts = [board.challenge, board.competition.key]
    if board.phase != MAIN_PHASE:
        parts.insert(1, board.phase)
    if board.part is Part.LATER:
        parts.append("later")
    return "-".join(parts)


def _written(board: Board, wanted: Format) -> Rendering:
    match wanted:
        case Format.JSON:
            body = _leaderboard(board).model_dump_json()
        case Format.CSV:
            body = export.as_csv(board)
        case Format.LATEX:
            body = export.as_latex(board)
    return Rendering.of(body.encode(), MEDIA_TYPES[wanted])


def _accepted(accept: str) -> Format:
    """Return the available format that the client prefers; JSON if it accepts anything.

    Source: RFC 9110, section 12.5.1.
    """
    preferences: list[tuple[float, str]] = []
    for part in accept.split(","):
        media_type, *parameters = (piece.strip() for piece in part.split(";"))
        quality = next((piece[2:] for piece in parameters if piece.startswith("q=")), "1")
        try:
            preferences.append((float(quality), media_type.lower()))
        except ValueError:
            continue
    wanted = [media_type for weight, media_type in sorted(preferences, key=lambda item: -item[0]) if weight > 0]
    for media_type in wanted:
        if media_type in _ACCEPTED:
            return _ACCEPTED[media_type]
        if media_type in {"*/*", "application/*"}:
            return Format.JSON
        if media_type == "text/*":
            return Format.CSV
    raise NotAcceptableError(f"Available formats: {', '.join(MEDIA_TYPES.values())}.")


def _leaderboard(board: Board) -> Leaderboard:
    return Leaderboard(
        challenge=board.challenge,
        phase=board.phase,
        frozen_at=board.frozen_at,
        is_anonymous=board.is_anonymous,
        competition=board.competition.key,
        task=board.competition.task,
        metric=board.metric,
        classes=list(board.classes),
        decimals=board.decimals,
        ladder_step=board.ladder_step,
        imported=None if board.imported is None else ImportedScores.model_validate(board.imported),
        corrections=[
            Correction(
                applied_at=one.applied_at,
                reason=one.reason,
                ground_truth_version=one.ground_truth_version,
                evaluator_version=one.evaluator_version,
                edition_version=one.edition_version,
                changes_edition=one.changes_edition,
                method=one.method,
            )
            for one in board.corrections
        ],
        removals=[Removal(removed_at=one.removed_at, cause=one.cause) for one in board.removals],
        statistics=_statistics(board),
        rows=[_row(row, board) for row in board.rows],
    )


def _statistics(board: Board) -> LeaderboardStatistics | None:
    found = board.statistics
    if found is None:
        return None
    return LeaderboardStatistics(
        is_current=found.is_current,
        is_unavailable=found.failure is not None,
        decimals=found.decimals,
        resampled_images=found.images,
        replicates=found.replicates,
        compared=found.compared,
    )


def _interval(interval: Interval | None) -> ScoreInterval | None:
    return None if interval is None else ScoreInterval(low=interval.low, high=interval.high)


def _row(row: BoardRow, board: Board) -> LeaderboardRow:
    cells = dict(zip(board.classes, row.cells, strict=True))
    known = row.statistics or UNKNOWN
    return LeaderboardRow(
        rank=row.rank,
        submission=row.submission_id,
        method=row.method,
        contributors=row.contributors,
        affiliation=row.affiliation,
        declared={one.declaration: one.text for one in row.declared},
        submitted_at=row.submitted_at,
        mean=row.mean.value,
        interval=_interval(known.mean),
        ranks=None if known.ranks is None else RankRange(best=known.ranks[0], worst=known.ranks[1]),
        in_first_group=None if known.ranks is None else known.is_in_first_group,
        mean_over=row.mean_over,
        other_means={metric: cell.value for metric, cell in zip(board.others, row.others, strict=True)},
        is_complete=row.is_complete,
        per_class={name: cell.value for name, cell in cells.items() if cell.is_entered},
        interval_per_class={
            name: ScoreInterval(low=interval.low, high=interval.high) for name, interval in known.classes.items()
        },
        other_per_class={
            metric: {name: cell.value for name, cell in zip(board.classes, scores, strict=True) if cell.is_entered}
            for metric, scores in zip(board.others, row.other_cells, strict=True)
            if metric in board.class_metrics
        },
        best=[name for name, cell in (("mean", row.mean), *cells.items()) if cell.is_best],
    )
