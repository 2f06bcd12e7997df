"""The XML annotations of the VOC development kits from VOC2007 on, one file an image.

Source: VOC2010 document sections 2.5-2.8 and 9.2.2; VOC development kit 2010, PASreadrecord.m.
"""

import math
from collections.abc import Mapping

from lxml import etree

from vocboard.evaluator.annotations.model import AnnotatedObject, AnnotatedPart, Annotation, AnnotationError, Box

MAXIMUM_BYTES = 4 * 1024 * 1024  # of one annotation file; real ones have about 2 KB
MAXIMUM_SIDE = 999_999  # pixels of an image

_FLAGS = {"0": False, "1": True}

# Creating a parser takes half as long as parsing an annotation, so it is shared; threads take turns.
_PARSER = etree.XMLParser(
    resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True
)


def read_xml(data: bytes) -> Annotation:
    """Read a VOC XML annotation.

    Raises:
        AnnotationError: it is not well-formed, has a document type, is larger than `MAXIMUM_BYTES`, or lacks required
        data.
    """
    return annotation_of(parse(data))


def parse(data: bytes) -> etree._Element:
    """Return the outermost element of an XML file.

    Raises:
        AnnotationError: it is not well-formed, has a document type, or is larger than `MAXIMUM_BYTES`.
    """
    if len(data) > MAXIMUM_BYTES:
        raise AnnotationError([(None, f"is larger than {MAXIMUM_BYTES} bytes")])
    try:
        root = etree.fromstring(data, _PARSER)
    except etree.XMLSyntaxError as error:
        raise AnnotationError([(error.lineno, f"is not well-formed XML: {error.msg}")]) from error
    if root.getroottree().docinfo.internalDTD is not None:
        raise AnnotationError([(1, "has a document type declaration, which an annotation does not need")])
    return root


def annotation_of(root: etree._Element) -> Annotation:
    """Read a parsed VOC XML annotation.

    Raises:
        AnnotationError: it lacks required data, or has invalid data.
    """
    return _XmlReader().annotation(root)


class _XmlReader:
    """Reads the elements of a file, and collects all errors."""

    def __init__(self) -> None:
        self._errors: list[tuple[int | None, str]] = []

    def annotation(self, root: etree._Element) -> Annotation:
        if root.tag != "annotation":
            self._report(root, f"the outermost element is <{root.tag}>, expected <annotation>")
        size = next(root.iterchildren("size"), None)
        annotation = Annotation(
            size=None if size is None else self._size(size),
            objects=tuple(self._object(element) for element in root.iterchildren("object")),
        )
        if self._errors:
            raise AnnotationError(self._errors)
        return annotation

    def _object(self, element: etree._Element) -> AnnotatedObject:
        children = _children(element)
        actions = children.get("actions")
        return AnnotatedObject(
            name=self._text(element, children, "name"),
            box=self._box(element, children),
            difficult=self._flag(children.get("difficult")),
            truncated=_is_set(children.get("truncated")),
            occluded=_is_set(children.get("occluded")),
            view=(children["pose"].text or "").strip() if "pose" in children else "",
            parts=tuple(map(self._part, element.iterchildren("part"))) if "part" in children else (),
            actions=None if actions is None else {str(flag.tag): self._flag(flag) for flag in actions},
        )

    def _part(self, element: etree._Element) -> AnnotatedPart:
        children = _children(element)
        return AnnotatedPart(self._text(element, children, "name"), self._box(element, children))

    def _size(self, element: etree._Element) -> tuple[int, int] | None:
        width, height = self._numbers(element, "width", "height")
        if not all(1 <= side <= MAXIMUM_SIDE and side.is_integer() for side in (width, height)):
            self._report(element, f"an image of {width:g} x {height:g} pixels")
            return None
        return int(width), int(height)

    def _box(self, element: etree._Element, children: Mapping[str, etree._Element]) -> Box:
        box, point = children.get("bndbox"), children.get("point")
        if box is None and point is not None:
            x, y = self._numbers(point, "x", "y")
            return x, y, x, y
        if box is None:
            self._report(element, f"<{element.tag}> has no <bndbox>")
            return (1.0, 1.0, 1.0, 1.0)
        errors = len(self._errors)
        left, top, right, bottom = self._numbers(box, "xmin", "ymin", "xmax", "ymax")
        # A side that is not a number has been reported, and its place holder says nothing about the box.
        if len(self._errors) == errors and (right < left or bottom < top):
            self._report(box, f"<bndbox> is upside down: {left:g}, {top:g} to {right:g}, {bottom:g}")
        return left, top, right, bottom

    def _numbers(self, element: etree._Element, *names: str) -> list[float]:
        children = _children(element)
        return [self._number(element, children, name) for name in names]

    def _number(self, element: etree._Element, children: Mapping[str, etree._Element], name: str) -> float:
        child = children.get(name)
        try:
            number = math.nan if child is None else float(child.text or "")
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            text = self._text(element, children, name)  # reports it if it is missing
            if text:
                self._report(element, f"<{name}> is {text!r}, expected a number")
            return 1.0
        return number

    def _flag(self, element: etree._Element | None) -> bool:
        if element is None:
            return False
        text = (element.text or "").strip()
        if text not in {"0", "1"}:
            self._report(element, f"<{element.tag}> is {text!r}, expected 0 or 1")
        return text == "1"

    def _text(self, element: etree._Element, children: Mapping[str, etree._Element], name: str) -> str:
        text = (children[name].text or "").strip() if name in children else ""
        if not text:
            self._report(element, f"<{element.tag}> has no <{name}>")
        return text

    def _report(self, element: etree._Element, message: str) -> None:
        line = element.sourceline
        self._errors.append((line if isinstance(line, int) else None, message))


def _is_set(element: etree._Element | None) -> bool | None:
    """A flag that may be missing; any value but 0 and 1 is as if it were."""
    return None if element is None else _FLAGS.get((element.text or "").strip())


def _children(element: etree._Element) -> dict[str, etree._Element]:
    """Return the first child of each name; several times as fast as finding each by name."""
    children: dict[str, etree._Element] = {}
    for child in element:
        children.setdefault(child.tag, child)
    return children
