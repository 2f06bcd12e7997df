"""The ground truth of ParallelEye's test set: one file for all images, one object a line.

The challenge's pages describe result files alone, so this format is ours: theirs without the confidence,
`<image id> <left> <top> <right> <bottom> <class>`. Coordinates are 1-based and inclusive. An image without objects has
no line; blank lines mean nothing.
"""

import math
from collections.abc import Collection, Mapping

from vocboard.evaluator.annotations.model import AnnotatedObject, Annotation, AnnotationError, text_lines

FORMAT = "<image> <left> <top> <right> <bottom> <class>"


def read_lines(data: bytes, images: Collection[str], classes: Collection[str]) -> Mapping[str, Annotation]:
    """Read the objects of all images of an image set, by image.

    Args:
        data: the file.
        images: those of the set; every one gets an annotation.
        classes: of the edition; a line of another class is wrong, so that a misspelt one is not lost.

    Raises:
        AnnotationError: with every line that is wrong.
    """
    objects: dict[str, list[AnnotatedObject]] = {image: [] for image in images}
    errors: list[tuple[int | None, str]] = []
    for number, line in enumerate(text_lines(data), start=1):
        fields = line.split()
        if not fields:
            continue
        try:
            item = _object(fields, objects, classes)
        except ValueError as wrong:
            errors.append((number, str(wrong)))
        else:
            objects[fields[0]].append(item)
    if errors:
        raise AnnotationError(errors)
    return {image: Annotation(None, tuple(found)) for image, found in objects.items()}


def _object(fields: list[str], images: Collection[str], classes: Collection[str]) -> AnnotatedObject:
    """Return a line's object; `ValueError` says what is wrong with it."""
    if len(fields) != len(FORMAT.split()):
        raise ValueError(f"{len(fields)} fields, expected {FORMAT}")
    image, *corners, name = fields
    if image not in images:
        raise ValueError(f"image {image!r} is not in the test set")
    if name not in classes:
        raise ValueError(f"class {name!r}, expected one of {', '.join(classes)}")
    left, top, right, bottom = map(_number, corners)
    if right < left or bottom < top:
        raise ValueError(f"the box is upside down: {left:g}, {top:g} to {right:g}, {bottom:g}")
    return AnnotatedObject(name, (left, top, right, bottom))


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"{text!r} in the box, expected a number")
    return number
