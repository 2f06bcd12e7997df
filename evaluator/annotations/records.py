"""The complete content of XML annotations, including what is not scored: views, flags, parts and actions.

`read_xml` returns numbers for evaluation. This module keeps numbers as they are written, for viewing and converting,
and accepts the same files.
Source: VOC2010 document, sections 2.5 and 9.2.2 (PASreadrecord).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lxml import etree

from vocboard.evaluator.annotations.xml import annotation_of, parse

_SIDES = ("xmin", "ymin", "xmax", "ymax")
FLAGS = ("truncated", "occluded", "difficult")


@dataclass(frozen=True, slots=True)
class PartRecord:
    """A part.

    Attributes:
        name: its type.
        box: left, top, right, bottom as number strings.
        point: whether the box represents a point.
    """

    name: str
    box: tuple[str, str, str, str]
    point: bool = False


@dataclass(frozen=True, slots=True)
class ObjectRecord:
    """One object.

    Attributes:
        box: left, top, right, bottom as number strings.
        view: `<pose>`, for example `Frontal`; empty if not annotated.
        flags: the members of `FLAGS` in the file.
        actions: flags by action; empty if not annotated.
        point: whether the box represents a point (VOC2012's boxless actions).
    """

    name: str
    box: tuple[str, str, str, str]
    view: str = ""
    flags: Mapping[str, bool] = field(default_factory=dict)
    parts: tuple[PartRecord, ...] = ()
    actions: Mapping[str, bool] = field(default_factory=dict)
    point: bool = False


@dataclass(frozen=True, slots=True)
class ImageRecord:
    """The annotation of an image; size in pixels, None if the file does not say."""

    size: tuple[int, int] | None
    objects: tuple[ObjectRecord, ...]


def read_record(data: bytes) -> ImageRecord:
    """Read an XML annotation.

    Raises:
        AnnotationError: the annotation is invalid, for `read_xml` too.
    """
    root = parse(data)
    checked = annotation_of(root)
    return ImageRecord(checked.size, tuple(map(_object, root.iterchildren("object"))))


def _object(element: etree._Element) -> ObjectRecord:
    actions = element.find("actions")
    box, point = _box(element)
    view = _text(element, "pose")
    return ObjectRecord(
        name=_text(element, "name"),
        box=box,
        view="" if view.lower() == "unspecified" else view,
        flags={name: text.strip() == "1" for name in FLAGS if (text := element.findtext(name)) is not None},
        parts=tuple(PartRecord(_text(part, "name"), *_box(part)) for part in element.iterchildren("part")),
        actions={} if actions is None else {str(each.tag): (each.text or "").strip() == "1" for each in actions},
        point=point,
    )


def _box(element: etree._Element) -> tuple[tuple[str, str, str, str], bool]:
    """Return the box of an object or part, and whether it represents a point."""
    box = element.find("bndbox")
    if box is None:
        x, y = (_text(element, f"point/{name}") for name in ("x", "y"))
        return (x, y, x, y), True
    left, top, right, bottom = (_text(box, side) for side in _SIDES)
    return (left, top, right, bottom), False


def _text(element: etree._Element, path: str) -> str:
    return (element.findtext(path) or "").strip()
