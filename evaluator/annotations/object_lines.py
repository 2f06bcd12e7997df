"""The ground truth of ParallelEye's test set: one file for all images, one object per line.

The challenge only describes result files, so this format is vocboard's own: result files without the confidence,
`<image id> <left> <top> <right> <bottom> <class>`. Coordinates are 1-based and inclusive. Images without objects have
no line; blank lines are ignored.
"""

import math
from collections.abc import Collection, Mapping

from vocboard.evaluator.annotations.model import AnnotatedObject, Annotation, AnnotationError, text_lines
from vocboard.evaluator.problems import counted

FORMAT = "<image> <left> <top> <right> <bottom> <class>"


def read_lines(data: bytes, images: Collection[str], classes: Collection[str]) -> Mapping[str, Annotation]:
    """Read the objects of all images of an image set, by image.

    Args:
        data: the file.
        images: images of the set; each gets an annotation.
        classes: classes of the edition; other classes are an error, so that misspelt ones are not lost.

    Raises:
        AnnotationError: lists every invalid line.
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
    """Return the object of a line; raises `ValueError` with the reason if it is invalid."""
    if len(fields) != len(FORMAT.split()):
        raise ValueError(f"{counted(len(fields), 'field')}, expected {FORMAT}")
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
