"""Parses untrusted XML, one child of the root at a time.

This uses expat directly, because it can stop at a document type before reading it, never opens other files, and knows
the line of every element (libxml2 only stores 16 bits).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat

from vocboard.evaluator.problems import Kind, quoted
from vocboard.evaluator.tasks.layout.problems import (
    NOT_A_LAYOUT,
    XML_FORBIDDEN,
    XML_SYNTAX,
    XML_TEXT_TOO_LONG,
    XML_TOO_DEEP,
    XML_TOO_LARGE,
)

_CHUNK_BYTES = 64 * 1024

_HINTS = {  # by root element
    "annotation": "This is the format of the annotations; results have another.",
    "layout": "A file holds the layouts of all people, one after the other.",
    "html": "This is a web page.",
}


@dataclass(slots=True)
class Element:
    """An element with its content.

    Attributes:
        line: 1-based line of its start tag.
        text: its direct character data.
    """

    name: str
    line: int
    children: list["Element"] = field(default_factory=list)
    text: str = ""


@dataclass(frozen=True, slots=True)
class Shape:
    """Limits of a document.

    Attributes:
        root: name of the root element.
        deepest: maximum nesting depth, including the root.
        elements: maximum number of elements in one child of the root.
        characters: maximum text length of an element.
    """

    root: str
    deepest: int
    elements: int
    characters: int


class XmlError(Exception):
    """The file cannot be parsed further; `kind`, `line` and `found` describe the problem."""

    def __init__(self, kind: Kind, line: int, **found: Any):
        super().__init__(kind.title)
        self.kind, self.line, self.found = kind, line, found


def children_of_root(data: bytes, shape: Shape) -> Iterator[Element]:
    """Yield the children of the root element, each as soon as it is complete.

    Raises:
        XmlError: the XML is not well-formed, has a document type, or exceeds the limits.
    """
    handler = _Handler(shape)
    try:
        for start in range(0, len(data), _CHUNK_BYTES):
            handler.parser.Parse(data[start : start + _CHUNK_BYTES], False)
            yield from handler.take()
        handler.parser.Parse(b"", True)
        yield from handler.take()
    except expat.ExpatError as error:
        raise XmlError(XML_SYNTAX, error.lineno, reason=expat.ErrorString(error.code)) from error


class _Handler:
    """Builds elements from the parser's events."""

    def __init__(self, shape: Shape):
        self._shape = shape
        self._open: list[Element] = []
        self._elements = 0
        self._complete: list[Element] = []
        self.parser = expat.ParserCreate("utf-8")  # regardless of the file's declaration
        self.parser.buffer_text = True
        self.parser.StartDoctypeDeclHandler = self._document_type
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text

    def take(self) -> list[Element]:
        """Return children of the root that were completed since the last call."""
        complete, self._complete = self._complete, []
        return complete

    def _document_type(self, *_: object) -> None:
        raise self._error(XML_FORBIDDEN)

    def _start(self, name: str, _: dict[str, str]) -> None:
        shape, depth = self._shape, len(self._open)
        if depth == 0 and name != shape.root:
            hint = _HINTS.get(name.lower(), "")
            raise self._error(NOT_A_LAYOUT, found=quoted(f"<{name}>"), hint=hint and f" {hint}")
        if depth >= shape.deepest:
            raise self._error(XML_TOO_DEEP, limit=shape.deepest)
        self._elements = 0 if depth <= 1 else self._elements + 1
        if self._elements > shape.elements:
            raise self._error(XML_TOO_LARGE, limit=shape.elements, parent=self._open[1].name)
        element = Element(name, self.parser.CurrentLineNumber)
        if depth >= 2:
            self._open[-1].children.append(element)
        self._open.append(element)

    def _end(self, _: str) -> None:
        element = self._open.pop()
        if len(self._open) == 1:
            self._complete.append(element)

    def _text(self, text: str) -> None:
        if len(self._open) < 2:
            return  # white space between the children of the root
        element = self._open[-1]
        if len(element.text) + len(text) > self._shape.characters:
            raise self._error(XML_TEXT_TOO_LONG, limit=self._shape.characters, parent=quoted(element.name))
        element.text += text

    def _error(self, kind: Kind, **found: object) -> XmlError:
        return XmlError(kind, self.parser.CurrentLineNumber, **found)
