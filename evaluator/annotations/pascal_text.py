"""The text annotations of VOC2005 and VOC2006, "PASCAL Annotation Version 1.00", one file an image.

A label such as `PAScarRearTruncDifficult` begins with the class, followed by the pose, whether the object is truncated,
and whether it is difficult. The edition maps prefixes to classes.

Source: the annotations of VOC2006; "The 2005 PASCAL Visual Object Classes Challenge", section 3.
"""

import re
from collections.abc import Iterator, Mapping

from vocboard.evaluator.annotations.model import AnnotatedObject, Annotation, AnnotationError, Box, text_lines

TITLE = "PASCAL Annotation Version 1.00"
DIFFICULT = "Difficult"
TRUNCATED = "Trunc"

_NUMBER = r"\s*(-?\d{1,9}(?:\.\d{1,9})?)\s*"
_POINT = rf"\({_NUMBER},{_NUMBER}\)"
_SIZE = re.compile(r"Image size \(X x Y x C\) : (\d{1,6}) x (\d{1,6}) x \d{1,3}\s*")
_COUNT = re.compile(r"Objects with ground truth : (\d{1,6})\b.*")
_ORIGIN = re.compile(rf"# Top left pixel co-ordinates : {_POINT}\s*")
_BOX_BEGINS = "Bounding box for object "
_BOX = re.compile(rf'{_BOX_BEGINS}(\d{{1,6}}) "([^"]*)" \(Xmin, Ymin\) - \(Xmax, Ymax\) : {_POINT} - {_POINT}\s*')


def read_pascal_text(data: bytes, labels: Mapping[str, str]) -> Annotation:
    """Read a text annotation.

    Coordinates are converted to count from 1, because a file may say that its top left pixel is (0, 0).

    Args:
        data: the file.
        labels: classes by label prefix; the longest prefix counts. An object with another label keeps the label as its
            name: it has no class, but object indices count it.

    Raises:
        AnnotationError: the file has another format, or lacks required data.
    """
    lines = text_lines(data)
    if not any(TITLE in line for line in lines[:3]):
        raise AnnotationError([(1, f"does not begin with {TITLE!r}")])
    size, origin, count = (_first(pattern, lines) for pattern in (_SIZE, _ORIGIN, _COUNT))
    left, top = map(float, origin) if origin else (1.0, 1.0)
    errors: list[tuple[int | None, str]] = []
    objects: list[AnnotatedObject] = []
    boxes = [(number, line) for number, line in enumerate(lines, start=1) if line.startswith(_BOX_BEGINS)]
    for index, (number, line) in enumerate(boxes, start=1):
        try:
            objects.append(_object(line, index, labels, left, top))
        except ValueError as wrong:
            errors.append((number, str(wrong)))
    if count is None:
        errors.append((None, "does not say how many objects it has: 'Objects with ground truth : 1 ...'"))
    elif int(count[0]) != len(objects) and not errors:
        errors.append((None, f"says that it has {count[0]} objects, and has the bounding boxes of {len(objects)}"))
    if errors:
        raise AnnotationError(errors)
    return Annotation((int(size[0]), int(size[1])) if size else None, tuple(objects))


def _object(line: str, expected: int, labels: Mapping[str, str], left: float, top: float) -> AnnotatedObject:
    """Return the object of a line; raises `ValueError` with the reason if it is invalid."""
    match = _BOX.fullmatch(line)
    if match is None:
        raise ValueError(f'is not as in {_BOX_BEGINS}1 "PAScar" (Xmin, Ymin) - (Xmax, Ymax) : (1, 1) - (20, 10)')
    index, label, *sides = match.groups()
    if int(index) != expected:
        raise ValueError(f"has object {index}, expected object {expected}")
    box = _shifted([float(side) for side in sides], 1 - left, 1 - top)
    if box[2] < box[0] or box[3] < box[1]:
        raise ValueError("has a box that is upside down")
    name, rest = _divided(label, labels)
    view = rest.replace(TRUNCATED, "").replace(DIFFICULT, "")
    return AnnotatedObject(name, box, difficult=DIFFICULT in label, truncated=TRUNCATED in label, view=view)


def _first(pattern: re.Pattern[str], lines: list[str]) -> tuple[str, ...] | None:
    """Return the groups of the first line that matches a pattern."""
    found: Iterator[re.Match[str]] = filter(None, map(pattern.fullmatch, lines))
    match = next(found, None)
    return match.groups() if match else None


def _shifted(sides: list[float], right: float, down: float) -> Box:
    return sides[0] + right, sides[1] + down, sides[2] + right, sides[3] + down


def _divided(label: str, labels: Mapping[str, str]) -> tuple[str, str]:
    """Return the class of a label and the rest of the label; the label itself if it has no class."""
    prefix = max((prefix for prefix in labels if label.startswith(prefix)), key=len, default=None)
    return (label, "") if prefix is None else (labels[prefix], label.removeprefix(prefix))
