"""Draws what a method found on chosen test images: boxes, outlines, label maps, confidences.

It reads no ground truth, and nothing that does: a test checks all of its imports. So a drawing says no more than the
results themselves, which are their method's.
"""

import base64
import colorsys
import io
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.image_sets import ImageSet, ImageSets
from vocboard.evaluator.results import Entry, Results, Segmented
from vocboard.evaluator.rules import Competition, Edition
from vocboard.evaluator.tasks.rows import ROWS
from vocboard.evaluator.tasks.task_rows import ClassRows

VERSION = 1  # of the drawings: increase it when the same results would be drawn otherwise
ROWS_PER_IMAGE = 10  # on average
CONFIDENCES = 3  # of each image or person, of which there is one for each class
OUTLINE_CELLS = 120  # along the longer side of an image: outlines are simplified to these
MAP_PIXELS = 400  # along the longer side of a label map
_MAP_OPACITY = 190  # of 255
_DIGITS = 4  # of confidences
_GOLDEN = 0.618034  # of a turn between the hues of successive classes

Rows = list[dict[str, Any]]
ReadLabelMap = Callable[[Competition, int, tuple[int, int]], NDArray[np.uint8]]
Drawing = Mapping[str, Mapping[str, dict[str, Any]]]


def draw(
    results: Results, edition: Edition, image_sets: ImageSets, names: Collection[str], label_map: ReadLabelMap
) -> Drawing:
    """Draw results on some images.

    Args:
        names: identifiers of the images; those that a competition's test set lacks are left out.
        label_map: returns a label map, by its competition, the index of its image, and the image's width and height.

    Returns:
        By competition and image, what `app.pages.showcase` draws: `size` (width and height in pixels; not if unknown)
        and `rows`, by decreasing confidence. A row has a `class`; but for label maps its `confidence`; if there is one,
        its `box` (as in `Detections`), its `outline` (an SVG path in pixels) and its `person` (1-based index in the
        image). A label map is `map`, a PNG in base64; its rows are the classes with their `share` of the pixels.

    Raises:
        ColumnsError: a label map is damaged.
    """
    drawn: dict[str, dict[str, dict[str, Any]]] = {}
    for key, entry in results.items():
        image_set = image_sets.sets.get((entry.competition.task, entry.competition.image_set))
        if image_set is None:
            continue
        chosen = {place: name for place, name in enumerate(image_set.images) if name in names}
        rows = _rows(entry, edition, image_set, np.array(sorted(chosen), dtype=np.int64))
        for place, name in chosen.items():
            image: dict[str, Any] = {"rows": rows.get(place, [])}
            if image_set.sizes is not None:
                image["size"] = width, height = image_set.sizes[place].tolist()
                if isinstance(entry.content, Segmented) and place in entry.content.images:
                    image |= _drawn_map(entry.competition, label_map(entry.competition, place, (width, height)))
            drawn.setdefault(key, {})[name] = image
    return drawn


def colour(index: int) -> str:
    """Return the colour of a class as `#rrggbb`.

    Args:
        index: of the class, from 0.
    """
    hue, lightness = (0.58 + index * _GOLDEN) % 1.0, (0.62, 0.5, 0.72)[index % 3]
    return "#" + "".join(f"{round(255 * part):02x}" for part in colorsys.hls_to_rgb(hue, lightness, 0.85))


def outline(mask: NDArray[np.bool_], cell: int) -> str:
    """Return the outline of a (height, width) mask as an SVG path along the sides of its cells; empty if it is empty.

    Args:
        cell: pixels along a side of a cell.

    >>> outline(np.array([[True, True], [False, True]]), 2)
    'M0 0H4V4H2V2H0Z'
    """
    ends: dict[tuple[int, int], list[tuple[int, int]]] = {}
    inside = np.pad(mask, 1)
    # The sides between a cell and one outside, with the inside on the right.
    for (down, right), (from_x, from_y), (to_x, to_y) in (
        ((-1, 0), (0, 0), (1, 0)),
        ((0, 1), (1, 0), (1, 1)),
        ((1, 0), (1, 1), (0, 1)),
        ((0, -1), (0, 1), (0, 0)),
    ):
        sides = mask & ~np.roll(inside, (-down, -right), (0, 1))[1:-1, 1:-1]
        for y, x in np.argwhere(sides).tolist():
            ends.setdefault((x + from_x, y + from_y), []).append((x + to_x, y + to_y))
    path = ""
    while ends:
        start = x, y = min(ends, key=lambda corner: (corner[1], corner[0]))
        path += f"M{x * cell} {y * cell}"
        is_level, is_first = True, True
        while is_first or (x, y) != start:
            following = ends[x, y].pop()
            if not ends[x, y]:
                del ends[x, y]
            if (following[1] == y) is not is_level:
                path += f"H{x * cell}" if is_level else f"V{y * cell}"
                is_level = not is_level
            (x, y), is_first = following, False
        path += "Z"
    return path


def _rows(entry: Entry, edition: Edition, image_set: ImageSet, chosen: NDArray[np.integer]) -> Mapping[int, Rows]:
    """Return the rows of some images, by image and decreasing confidence: the most confident ones of each competition.

    Confidences of images and people are of every class, so they are the most confident ones of each image or person.
    """
    by_image = dict[int, Rows]()
    task = ROWS.get(entry.competition.task)
    if task is None:
        return by_image
    names = task.names(entry.competition, edition)
    found = list(task.rows(entry, edition, image_set, chosen))
    ranked = sorted(
        ((rows, place) for rows in found for place in range(len(rows.image))),
        key=lambda one: -one[0].confidence[one[1]],
    )
    counted = Counter[tuple[int, int]]()
    for rows, place in ranked if task.are_of_every_class else ranked[: ROWS_PER_IMAGE * len(chosen)]:
        image, row = int(rows.image[place]), _row(rows, place, image_set, int(rows.image[place]))
        counted[image, row.get("person", 0)] += 1
        if not task.are_of_every_class or counted[image, row.get("person", 0)] <= CONFIDENCES:
            by_image.setdefault(image, []).append({"class": names[rows.class_index], **row})
    return by_image


def _row(rows: ClassRows, place: int, image_set: ImageSet, image: int) -> dict[str, Any]:
    row: dict[str, Any] = {"confidence": float(f"{rows.confidence[place]:.{_DIGITS}g}")}
    if rows.box is not None:
        row["box"] = np.round(rows.box[place], 1).tolist()
    if rows.person is not None:
        row["person"] = int(rows.person[place])
    if rows.region is not None and image_set.sizes is not None:
        width, height = image_set.sizes[image].tolist()
        cell = -(-max(width, height) // OUTLINE_CELLS)
        inside = np.zeros(width * height, dtype=np.bool_)
        for start, stop in zip(*rows.region[place], strict=True):
            inside[start:stop] = True
        mask = inside.reshape(width, height).T
        padded = np.pad(mask, ((0, -height % cell), (0, -width % cell)))
        cells = padded.reshape(padded.shape[0] // cell, cell, padded.shape[1] // cell, cell)
        row["outline"] = outline(np.asarray(cells.any(axis=(1, 3))), cell)
    return row


def _drawn_map(competition: Competition, label_map: NDArray[np.uint8]) -> dict[str, Any]:
    from PIL import Image  # noqa: PLC0415  # most processes that import this draw no label maps

    labels, counts = np.unique(label_map, return_counts=True)
    shares = dict(zip(labels.tolist(), (counts / label_map.size).tolist(), strict=True))
    shown = sorted((label for label in shares if label), key=lambda label: -shares[label])
    step = -(-max(label_map.shape) // MAP_PIXELS)
    picture = Image.fromarray(np.ascontiguousarray(label_map[::step, ::step]), "P")
    colours: Sequence[int] = [0, 0, 0]
    for index in range(len(competition.classes)):
        colours = [*colours, *bytes.fromhex(colour(index)[1:])]
    picture.putpalette(colours)
    target = io.BytesIO()
    transparency = bytes([0]) + bytes([_MAP_OPACITY]) * len(competition.classes)
    picture.save(target, "PNG", transparency=transparency, optimize=True)
    rows = [
        {"class": competition.classes[label - 1], "share": float(f"{shares[label]:.{_DIGITS}g}")} for label in shown
    ]
    return {"map": base64.b64encode(target.getvalue()).decode(), "rows": rows}
