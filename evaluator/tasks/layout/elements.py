"""Reads the elements of a layout file, and reports problems."""

from collections.abc import Sequence

from vocboard.evaluator.problems import quoted
from vocboard.evaluator.result_files.fields import find_image, read_number, read_object_index
from vocboard.evaluator.result_files.items import Items
from vocboard.evaluator.result_files.report import FileReport
from vocboard.evaluator.rules import Limits
from vocboard.evaluator.tasks.layout.problems import MISSING_ELEMENT, REPEATED_ELEMENT, UNEXPECTED_ELEMENT, UNKNOWN_PART
from vocboard.evaluator.tasks.layout.xml import Element

Box = tuple[float, float, float, float]

_SIDES = ("xmin", "ymin", "xmax", "ymax")
_OPPOSITE = {"xmin": "xmax", "ymin": "ymax"}


class ElementReader:
    """Reads elements; missing or invalid values are reported and returned as None."""

    def __init__(self, parts: Sequence[str], items: Items, limits: Limits, report: FileReport):
        self._parts, self._items, self._limits, self._report = parts, items, limits, report

    def image(self, element: Element | None) -> int | None:
        """Return the position of the image in an element."""
        if element is None:
            return None
        return find_image(element.text.strip(), element.line, self._items, self._report)

    def object_index(self, element: Element | None) -> int | None:
        """Return the 1-based object index in an element."""
        if element is None:
            return None
        return read_object_index(element.text.strip(), element.line, self._report)

    def number(self, element: Element | None) -> float | None:
        """Return the finite number in an element."""
        if element is None:
            return None
        return read_number(element.text.strip(), element.name, element.line, self._limits, self._report)

    def box(self, element: Element | None) -> Box | None:
        """Return the box in an element: left, top, right, bottom."""
        if element is None:
            return None
        children = self.children(element, _SIDES)
        left, top, right, bottom = (self.number(children.get(side)) for side in _SIDES)
        if left is None or top is None or right is None or bottom is None:
            return None
        return left, top, right, bottom

    def part(self, element: Element) -> tuple[int, Box] | None:
        """Return the index of a part's type in the edition, and its box."""
        children = self.children(element, ("class", "bndbox"))
        box, named = self.box(children.get("bndbox")), children.get("class")
        part = named.text.strip() if named is not None else None
        if named is not None and part not in self._parts:
            expected = " or ".join(self._parts)
            self._report.add(UNKNOWN_PART, named.line, found=quoted(str(part)), expected=expected)
            return None
        return None if part is None or box is None else (self._parts.index(part), box)

    def children(self, parent: Element, names: tuple[str, ...], repeatable: str | None = None) -> dict[str, Element]:
        """Return the child of each name; report missing, repeated and misplaced children.

        A second child in the place of a missing one, such as the second of two `<ymin>` without a `<ymax>`, is reported
        once, as repeated, and used as the missing one.
        """
        found: dict[str, Element] = {}
        for child in parent.children:
            if child.name == repeatable:
                continue
            if child.name not in names:
                self.out_of_place(child, parent.name, (*names, *([repeatable] if repeatable else ())))
            elif child.name in found:
                opposite = _OPPOSITE.get(child.name)
                slip = opposite is not None and all(other.name != opposite for other in parent.children)
                self._repeated(child, parent, opposite if slip else None)
                if opposite is not None and slip:
                    found[opposite] = child
            else:
                found[child.name] = child
        for name in names:
            if name not in found:
                expected = ", ".join(f"<{known}>" for known in names)
                kind = MISSING_ELEMENT
                self._report.add(kind, parent.line, parent=parent.name, missing=name, expected=expected)
        return found

    def out_of_place(self, element: Element, parent: str, expected: tuple[str, ...]) -> None:
        """Report a misplaced element."""
        self._report.add(
            UNEXPECTED_ELEMENT,
            element.line,
            found=quoted(f"<{element.name}>"),
            parent=f"<{parent}>",
            expected=", ".join(f"<{name}>" for name in expected),
        )

    def _repeated(self, element: Element, parent: Element, meant: str | None) -> None:
        hint = "Keep only one of them."
        if meant is not None:
            hint = f"The second is probably meant to be <{meant}>; the example in the VOC documents has the same slip."
        kind = REPEATED_ELEMENT
        self._report.add(kind, element.line, found=element.name, parent=parent.name, hint=hint)
