"""A leaderboard for other people's pages: read-only, in a frame; and the picture that previews of links show.

Both are what a visitor sees, also for signed-in users.
"""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from vocboard.app.leaderboards.board import Part
from vocboard.app.leaderboards.current import CurrentBoard
from vocboard.app.pages.preview_picture import preview_picture
from vocboard.app.pages.rendering import environment
from vocboard.app.web.cached_responses import KEPT_BUT_ASKED_FOR, Rendering, answer
from vocboard.app.web.dependencies import BoardsDep
from vocboard.app.web.headers import FRAMEABLE

router = APIRouter()
ROWS, MAX_ROWS = 20, 200  # of an embedded leaderboard


@router.get("/challenges/{slug}/leaderboards/{competition}/embed")
async def embedded_leaderboard(
    request: Request,
    boards: BoardsDep,
    slug: str,
    competition: str,
    phase: str | None = None,
    rows: Annotated[int, Query(ge=1, le=MAX_ROWS)] = ROWS,
) -> Response:
    """The best methods, as a page that other sites may show in a frame: without forms, scripts or anybody's data."""
    current = await boards.get(slug, competition, None, phase_key=phase)
    rendering = await boards.rendered(
        current, ("embedded", phase, rows), lambda: Rendering.of(_embedded(current, phase, rows).encode(), "text/html")
    )
    return answer(request, rendering, {"Cache-Control": KEPT_BUT_ASKED_FOR, **FRAMEABLE})


@router.get("/challenges/{slug}/leaderboards/{competition}/preview.png")
async def preview(
    request: Request,
    boards: BoardsDep,
    slug: str,
    competition: str,
    phase: str | None = None,
    results: Part = Part.COUNTING,
) -> Response:
    """The picture of a leaderboard."""
    current = await boards.get(slug, competition, None, phase_key=phase, part=results)
    rendering = await boards.rendered(
        current, "preview", lambda: Rendering.of(preview_picture(current.board), "image/png")
    )
    headers = {"Cache-Control": KEPT_BUT_ASKED_FOR, "Cross-Origin-Resource-Policy": "cross-origin"}
    return answer(request, rendering, headers)


def _embedded(current: CurrentBoard, phase: str | None, rows: int) -> str:
    return (
        environment()
        .get_template("embedded_leaderboard.html")
        .render(
            challenge=current.challenge,
            competition=current.board.competition,
            board=current.board,
            rows=current.board.rows[:rows],
            phase_query=f"?phase={phase}" if phase else "",
        )
    )
