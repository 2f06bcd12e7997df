"""Reads JSON of detections by image, as torchvision, Hugging Face, MMDetection and Ultralytics return them.

An image has parallel lists, or a list of objects:

- torchvision: `{"boxes": [[x1, y1, x2, y2], ...], "labels": [...], "scores": [...]}`
- Hugging Face, `post_process_object_detection`: the same; a pipeline: `[{"score", "label", "box": {"xmin", ...}}, ...]`
- MMDetection: `{"bboxes": [...], "labels": [...], "scores": [...]}`, or by class lists of `[x1, y1, x2, y2, score]`
- Ultralytics, `Results.to_json`: `[{"name", "class", "confidence", "box": {"x1", ...}}, ...]`

The images are in an object by image, a list of objects with the image in `image_id`, `image` or `file_name`, a list in
the order of the image set, or a directory with a JSON file for each image.
"""

from collections.abc import Iterator
from typing import Any

from vocboard.evaluator.conversion.boxes import Four
from vocboard.evaluator.conversion.json_input import four, number, shown
from vocboard.evaluator.conversion.problems import ConversionError, ProblemCollector
from vocboard.evaluator.conversion.rows import Convention, Row, Source
from vocboard.evaluator.problems import Problem, Severity

_NAME_KEYS = ("file_name", "image", "image_id")
_BOX_KEYS = ("boxes", "bboxes")
_CORNERS = (("xmin", "ymin", "xmax", "ymax"), ("x1", "y1", "x2", "y2"))
_EXPECTED = 'Expected for each image: {"boxes": [[x1, y1, x2, y2], ...], "labels": [...], "scores": [...]}.'


def prediction_source(
    document: Any, file: str, images: tuple[str, ...], first_category: int, problems: ProblemCollector
) -> Source:
    """Return the detections of a parsed JSON document.

    Args:
        document: as the module describes.
        file: file name for messages.
        images: the image set, for lists in its order.
        first_category: number of the edition's first class.
        problems: collects problems.

    Raises:
        ConversionError: images cannot be identified.
    """
    entries = list(_by_image(document, file, images))
    rows = (row for name, content in entries for row in rows_of_image(name, content, file, problems))
    return Source(Convention.CORNERS, first_category, rows, tuple(str(name) for name, _ in entries))


def rows_of_image(image: Any, content: Any, file: str, problems: ProblemCollector) -> Iterator[Row]:
    """Yield the detections of one image, numbered from 1 on."""
    where = f"{file}, image {image}"
    for place, (category, score, box) in enumerate(_detections(content, where, problems), start=1):
        confidence = number(score)
        if confidence is None or box is None:
            found = (
                "detections whose box is not four finite numbers"
                if box is None
                else f"detections whose score is not a finite number, such as {shown(score)}"
            )
            problems.add("bad_detection", found, _EXPECTED, file=where, line=place, noun="detection")
            continue
        yield Row(image, category, confidence, box, where, place)


def _by_image(document: Any, file: str, images: tuple[str, ...]) -> Iterator[tuple[Any, Any]]:
    if isinstance(document, dict) and not any(key in document for key in _BOX_KEYS):
        yield from document.items()
        return
    if isinstance(document, list):
        named = [_name_in(entry) for entry in document]
        if all(name is not None for name in named):
            yield from zip(named, document, strict=True)
            return
        if len(document) == len(images):
            yield from zip(images, document, strict=True)
            return
        found = (
            f"It has {len(document):,} entries without names of images, and the image set has {len(images):,} images"
        )
    else:
        found = "It has no images"
    message = f'{found}. Write an object by image: {{"000001": ...}}. {_EXPECTED}'
    raise ConversionError([Problem("unnamed_images", Severity.ERROR, message, file)])


def _name_in(entry: Any) -> Any:
    if not isinstance(entry, dict):
        return None
    return next((entry[key] for key in _NAME_KEYS if isinstance(entry.get(key), str | int)), None)


def _detections(content: Any, where: str, problems: ProblemCollector) -> Iterator[tuple[Any, Any, Four | None]]:
    """Yield category, score and box of each detection of an image, in any of the forms."""
    if isinstance(content, dict) and isinstance(content.get("predictions"), list | dict):
        content = content["predictions"]
    if isinstance(content, dict):
        boxes = next((content[key] for key in _BOX_KEYS if key in content), None)
        columns = [boxes, content.get("labels"), content.get("scores")]
        if all(isinstance(column, list) for column in columns) and len({len(column or ()) for column in columns}) == 1:
            for box, label, score in zip(*columns, strict=True):
                yield label, score, four(box)
            return
    elif isinstance(content, list) and all(isinstance(item, dict) for item in content):
        for item in content:
            category = item.get("label", item.get("name", item.get("class")))
            yield category, item.get("score", item.get("confidence")), _box_in(item.get("box"))
        return
    elif isinstance(content, list) and all(isinstance(item, list) for item in content):  # by class
        for category, found in enumerate(content):
            for item in found:
                is_five = isinstance(item, list) and len(item) == 5
                yield category, item[4] if is_five else None, four(item[:4]) if is_five else None
        return
    found = "an image without boxes, labels and scores of equal number"
    problems.add("bad_image", found, _EXPECTED, file=where, noun="image")


def _box_in(value: Any) -> Four | None:
    if isinstance(value, dict):
        for keys in _CORNERS:
            if all(key in value for key in keys):
                return four([value[key] for key in keys])
        return None
    return four(value)
