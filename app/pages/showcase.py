"""The showcase on pages: what methods found on public test images, as pictures with lines, and in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vocboard.app.challenges.models import Challenge, ChallengeFile
from vocboard.evaluator.editions import Competition, Edition
from vocboard.evaluator.showcase import ROWS_PER_IMAGE, Drawing, colour
from vocboard.evaluator.tasks.rows import ROWS

SHOWN_PER_IMAGE = 3  # results, on average, unless the address says otherwise
FIELD = "per_image"
_UNKNOWN_SIZE = (4, 3)


@dataclass(frozen=True, slots=True)
class Found:
    """One result on an image.

    Attributes:
        label: class, and person if there are several.
        value: confidence, or for label maps the share of the pixels in per cent; as shown.
        colour: `#rrggbb`.
        rank: among the method's results on all images of the showcase, from 0.
        is_shown: at first; a script shows others.
        box: left, top, width and height in pixels; None without one, or if there is an outline.
        outline: an SVG path; empty without one.
    """

    label: str
    value: str
    colour: str
    rank: int
    is_shown: bool
    box: tuple[float, float, float, float] | None
    outline: str


@dataclass(frozen=True, slots=True)
class Panel:
    """What one method found on one image.

    Attributes:
        label_map: address of a picture of it; empty without one.
    """

    found: tuple[Found, ...]
    label_map: str


@dataclass(frozen=True, slots=True)
class ShownImage:
    """An image of the showcase.

    Attributes:
        address: of the picture.
        panels: one for each method; None where the method has no results for it.
    """

    name: str
    title: str
    address: str
    width: int
    height: int
    panels: tuple[Panel | None, ...]


@dataclass(frozen=True, slots=True)
class Gallery:
    """The showcase of a competition.

    Attributes:
        images: on which at least one method has results.
        per_image: how many results are shown, on average.
        has_slider: whether this can be chosen.
        least: the least confidence that is shown of each method; empty without a slider or results.
    """

    images: tuple[ShownImage, ...]
    per_image: int
    has_slider: bool
    least: tuple[str, ...]


def gallery(
    challenge: Challenge,
    edition: Edition,
    competition: Competition,
    files: Mapping[str, ChallengeFile],
    drawings: Sequence[Drawing],
    *,
    per_image: str | None,
) -> Gallery:
    """Return the showcase of a competition.

    Args:
        files: of the showcase, by image.
        drawings: that the viewer may see, of each method.
        per_image: as in the address.
    """
    rows = ROWS.get(competition.task)
    has_slider = rows is not None and not rows.are_of_every_class
    names = rows.names(competition, edition) if rows else competition.classes
    is_number = per_image is not None and per_image.isascii() and per_image.isdigit() and len(per_image) < 3
    number = min(max(int(per_image or 0), 1), ROWS_PER_IMAGE) if is_number else SHOWN_PER_IMAGE
    colours = {name: colour(place) for place, name in enumerate(names)}
    columns, least = [], []
    for drawing in drawings:
        images = {name: one for name, one in drawing.get(competition.key, {}).items() if name in files}
        ranked = sorted(
            ((name, place) for name, one in images.items() for place in range(len(one["rows"]))),
            key=lambda one: -images[one[0]]["rows"][one[1]].get("confidence", 0.0),
        )
        ranks = {row: rank for rank, row in enumerate(ranked)}
        limit = number * len(images) if has_slider else len(ranked)
        columns.append({name: _panel(name, one, colours, ranks, limit) for name, one in images.items()})
        last = ranked[min(limit, len(ranked)) - 1] if ranked and has_slider else None
        least.append(_number(images[last[0]]["rows"][last[1]]["confidence"]) if last else "")
    shown = []
    for name, file in files.items():
        if any(name in column for column in columns):
            sizes = [one[name].get("size") for each in drawings if name in (one := each.get(competition.key, {}))]
            width, height = sizes[0] or _UNKNOWN_SIZE
            address = f"/api/v1/challenges/{challenge.slug}/files/{file.id}"
            panels = tuple(column.get(name) for column in columns)
            shown.append(ShownImage(name, file.title, address, width, height, panels))
    return Gallery(tuple(shown), number, has_slider, tuple(least))


def _panel(
    name: str,
    image: Mapping[str, Any],
    colours: Mapping[str, str],
    ranks: Mapping[tuple[str, int], int],
    limit: int,
) -> Panel:
    found = []
    for place, row in sorted(enumerate(image["rows"]), key=lambda one: one[1].get("person", 0)):
        person = row.get("person")
        left, top, right, bottom = row.get("box", (0, 0, 0, 0))
        is_boxed = "box" in row and "outline" not in row and "size" in image
        rank = ranks[name, place]
        found.append(
            Found(
                label=row["class"] if person is None else f"person {person}: {row['class']}",
                value=f"{100 * row['share']:.0f} %" if "share" in row else _number(row["confidence"]),
                colour=colours.get(row["class"], colour(0)),
                rank=rank,
                is_shown=rank < limit,
                box=(left - 1, top - 1, right - left + 1, bottom - top + 1) if is_boxed else None,
                outline=row.get("outline", ""),
            )
        )
    return Panel(tuple(found), f"data:image/png;base64,{image['map']}" if "map" in image else "")


def _number(confidence: float) -> str:
    return f"{confidence:.2f}" if abs(confidence) < 1000 and abs(confidence) >= 0.01 else f"{confidence:.2g}"
