"""A leaderboard for other people's pages."""

import io
from functools import cache, lru_cache
from pathlib import Path
from typing import Annotated

from fastapi import Query, Request
from PIL import Image, ImageDraw, ImageFont
from starlette.responses import Response

from vocboard.app.leaderboards.board import Board, Part
from vocboard.app.leaderboards.current import CurrentBoard
from vocboard.app.pages import formats, wording
from vocboard.app.pages.rendering import environment
from vocboard.app.web.cached_responses import KEPT_BUT_ASKED_FOR, Rendering, answer
from vocboard.app.web.dependencies import BoardsDep
from vocboard.app.web.headers import FRAMEABLE
from vocboard.app.web.routes import Routes

router = Routes()
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


WIDTH, HEIGHT = 1200, 630  # pixels, as Open Graph's users recommend
MARGIN = 64
METHODS = 6
ROW_HEIGHT = 62
PAPER, SURFACE, INK, SOFT, ACCENT, TINT = "#0e2f31", "#143c3f", "#e7f1ee", "#a9c4be", "#62c9b9", "#1f5557"
FONT_DIRECTORY = Path(__file__).parents[1] / "static" / "vendor" / "ibm-plex"
LATIN, EXTENDED = "ibm-plex-sans-latin-wdth-normal.woff2", "ibm-plex-sans-latin-ext-wdth-normal.woff2"
UNASSIGNED = "\ue000"  # drawn as what stands for letters that a font does not have

Font = ImageFont.FreeTypeFont


def preview_picture(board: Board) -> bytes:
    """Return a PNG of 1200 by 630 pixels with what everybody sees on the leaderboard."""
    picture = Image.new("RGB", (WIDTH, HEIGHT), PAPER)
    draw = ImageDraw.Draw(picture)
    _write(draw, (MARGIN, 52), board.challenge_title, 30, SOFT, WIDTH - 2 * MARGIN)
    _write(draw, (MARGIN, 92), wording.board_title(board.competition), 60, INK, WIDTH - 2 * MARGIN, weight=650)
    top = 190
    for row in board.rows[:METHODS]:
        right, left = WIDTH - MARGIN, MARGIN + 480
        draw.rectangle((left, top + 8, right - 150, top + ROW_HEIGHT - 14), fill=SURFACE)
        if row.mean.value is not None:
            share = min(max(row.mean.value, 0.0), 1.0)
            draw.rectangle((left, top + 8, left + share * (right - 150 - left), top + ROW_HEIGHT - 14), fill=TINT)
        _write(draw, (MARGIN, top + 10), "–" if row.rank is None else f"{row.rank}", 32, SOFT, 60)
        _write(draw, (MARGIN + 60, top + 10), row.method, 32, INK, 400, weight=600)
        mean = formats.percent(row.mean.value, board.decimals) + ("" if row.is_complete else "*")
        colour = ACCENT if row.mean.is_best else INK
        draw.text((right, top + 10), mean, font=_font(LATIN, 32, 600), fill=colour, anchor="ra")
        top += ROW_HEIGHT
    count = formats.plural(len(board.rows), "method")
    title = wording.metric_title(board.metric)
    said = f"{count} · mean {title[0].lower()}{title[1:]}, per cent" if board.rows else "No results yet"
    if board.imported:
        said = f"{count} · {board.imported.short_text}"
    _write(draw, (MARGIN, HEIGHT - 56), f"{said} · vocboard".replace(formats.THIN_SPACE, " "), 26, SOFT, 1000)
    written = io.BytesIO()
    picture.quantize(64).save(written, "PNG", optimize=True)
    return written.getvalue()


def _write(
    draw: ImageDraw.ImageDraw,
    where: tuple[int, int],
    text: str,
    size: int,
    colour: str,
    room: int,
    weight: int = 400,
) -> None:
    """Write text, each letter in the font that has it, and shortened to the room."""
    x, y = float(where[0]), where[1]
    end = x + room
    for number, letter in enumerate(text):
        font, shown = _letter(letter, size, weight)
        advance = font.getlength(shown)
        rest = font.getlength("…") if number < len(text) - 1 else 0
        if x + advance + rest > end:
            draw.text((x, y), "…", font=_font(LATIN, size, weight), fill=colour)
            return
        draw.text((x, y), shown, font=font, fill=colour)
        x += advance


def _letter(letter: str, size: int, weight: int) -> tuple[Font, str]:
    for name in (LATIN, EXTENDED):
        if _has(name, letter):
            return _font(name, size, weight), letter
    return _font(LATIN, size, weight), "?"


@lru_cache(maxsize=4096)
def _has(name: str, letter: str) -> bool:
    font = _font(name, 32, 400)
    return bytes(font.getmask(letter)) != bytes(font.getmask(UNASSIGNED))


@cache
def _font(name: str, size: int, weight: int) -> Font:
    font = ImageFont.truetype(FONT_DIRECTORY / name, size)
    font.set_variation_by_axes([weight, 92])
    return font
