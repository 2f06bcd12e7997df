"""The complete content of XML annotations, including what is not scored: views, flags, parts and actions.

`read_xml` reads and checks what evaluation needs; this module is for viewing and converting valid annotations.
Source: VOC2010 document, sections 2.5 and 9.2.2 (PASreadrecord).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lxml import etree

from vocboard.evaluator.annotations.xml import MAXIMUM_BYTES

_PARSER = etree.XMLParser(
    resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True
)
_SIDES = ("xmin", "ymin", "xmax", "ymax")
FLAGS = ("truncated", "occluded", "difficult")


@dataclass(frozen=True, slots=True)
class PartRecord:
    """A part: its type, and its box as number strings."""

    name: str
    box: tuple[str, str, str, str]


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
    """Read a valid XML annotation.

    Raises:
        ValueError: the annotation is invalid for `read_xml` too.
    """
    if len(data) > MAXIMUM_BYTES:
        raise ValueError(f"larger than {MAXIMUM_BYTES} bytes")
    try:
        root = etree.fromstring(data, _PARSER)
    except etree.XMLSyntaxError as error:
        raise ValueError(str(error)) from error
    size = root.find("size")
    width, height = (None, None) if size is None else (size.findtext("width"), size.findtext("height"))
    known = (int(float(width)), int(float(height))) if width and height else None
    return ImageRecord(known, tuple(map(_object, root.iterchildren("object"))))


def _object(element: etree._Element) -> ObjectRecord:
    actions = element.find("actions")
    point = element.find("point") if element.find("bndbox") is None else None
    view = (element.findtext("pose") or "").strip()
    return ObjectRecord(
        name=(element.findtext("name") or "").strip(),
        box=_box(element) if point is None else _point(point),
        view="" if view.lower() == "unspecified" else view,
        flags={name: text.strip() == "1" for name in FLAGS if (text := element.findtext(name)) is not None},
        parts=tuple(
            PartRecord((part.findtext("name") or "").strip(), _box(part)) for part in element.iterchildren("part")
        ),
        actions={} if actions is None else {str(each.tag): (each.text or "").strip() == "1" for each in actions},
        point=point is not None,
    )


def _box(element: etree._Element) -> tuple[str, str, str, str]:
    box = element.find("bndbox")
    if box is None:
        raise ValueError("no <bndbox>")
    left, top, right, bottom = ((box.findtext(side) or "").strip() for side in _SIDES)
    return left, top, right, bottom


def _point(point: etree._Element) -> tuple[str, str, str, str]:
    x, y = ((point.findtext(name) or "").strip() for name in ("x", "y"))
    return x, y, x, y
