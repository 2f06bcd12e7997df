"""Crops of images around errors, as SVG that refers to the images beside the page of `vocboard view`."""

from collections.abc import Mapping
from html import escape
from urllib.parse import quote

from vocboard.evaluator.diagnosis.worst import Box, WorstError
from vocboard.evaluator.viewing.page import WrittenView

_MARGIN = 0.3  # around the boxes, as a share of the longer side
_MIN_SIDE = 60  # pixels: least side of a crop

Region = tuple[float, float, float, float]  # x, y, width and height in pixels, from 0

_NO_IMAGES = "There are no crops, because the tree has none of these images (JPEGImages/). The links show boxes alone."


def gallery(errors: list[WorstError], competition: str, folder: str, view: WrittenView) -> str:
    """Return the crops of some errors, or a list if there are no images.

    Args:
        errors: in order.
        competition: their competition.
        folder: folder of the page of `vocboard view`, relative to the report.
        view: that page.
    """
    if not any(view.pictures.picture(error.image) for error in errors):
        items = "".join(f"<li>{_link(error, competition, folder, _caption(error))}</li>" for error in errors)
        return f"<p>{_NO_IMAGES}</p><ol>{items}</ol>"
    figures = "".join(_figure(error, competition, folder, view) for error in errors)
    return f'<div class="crops">{figures}</div>'


def _figure(error: WorstError, competition: str, folder: str, view: WrittenView) -> str:
    caption = _caption(error)
    picture = view.pictures.picture(error.image)
    if picture is None:
        return f"<figure><p>no image</p><figcaption>{_link(error, competition, folder, caption)}</figcaption></figure>"
    address = picture if picture.startswith("file:") else f"{folder}/{picture}"  # from the report
    width, height = view.scenes.size(error.image)
    region = _region([box for box in (error.found, error.true) if box is not None], width, height)
    boxes = "".join(_rectangle(box, kind) for kind, box in (("true", error.true), ("found", error.found)) if box)
    drawing = (
        f'<svg class="crop" viewBox="{" ".join(f"{side:.1f}" for side in region)}" role="img" '
        f'aria-label="{escape(_words(error))}">'
        f'<image href="{escape(address)}" width="{width}" height="{height}"/>{boxes}</svg>'
    )
    return f"<figure>{_link(error, competition, folder, drawing + f'<figcaption>{caption}</figcaption>')}</figure>"


def _link(error: WorstError, competition: str, folder: str, content: str) -> str:
    place = "" if error.result is None else f"/{error.result}"
    address = f"{folder}/index.html#{quote(error.image, safe='')}/{quote(competition)}{place}"
    return f'<a href="{escape(address)}">{content}</a>'


def _caption(error: WorstError) -> str:
    parts = [f"<b>{escape(error.name)}</b>" if error.name else "", escape(error.detail), escape(error.image)]
    return " · ".join(filter(None, parts))


def _words(error: WorstError) -> str:
    return ", ".join(filter(None, (error.name, error.detail, f"image {error.image}")))


def _region(boxes: list[Box], width: int, height: int) -> Region:
    """Return a square around boxes, within the image as far as it fits; the whole image without boxes."""
    if not boxes:
        return 0, 0, width, height
    left, top = min(box[0] for box in boxes) - 1, min(box[1] for box in boxes) - 1
    right, bottom = max(box[2] for box in boxes), max(box[3] for box in boxes)
    side = max((1 + _MARGIN) * max(right - left, bottom - top), _MIN_SIDE)
    return _start(left, right, side, width), _start(top, bottom, side, height), side, side


def _start(first: float, last: float, side: float, length: int) -> float:
    """Return where a crop starts that has the range from `first` to `last` in its middle, moved into the image."""
    start = (first + last - side) / 2
    return (length - side) / 2 if side >= length else min(max(start, 0.0), length - side)


def _rectangle(box: Box, kind: str) -> str:
    left, top, right, bottom = box
    sides = (
        f'x="{left - 1:g}" y="{top - 1:g}" width="{max(0, right - left + 1):g}" height="{max(0, bottom - top + 1):g}"'
    )
    return f'<rect class="{kind}" {sides} vector-effect="non-scaling-stroke"/>'


LEGEND: Mapping[str, str] = {"found": "the result", "true": "the annotated object"}
