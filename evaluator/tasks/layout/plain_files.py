"""Reads plain layout files with a regular expression, eight times as fast as element by element.

A plain file is ASCII text whose elements always have the same order, with little white space between them and no
attributes, comments or references. The element reader accepts everything that is accepted here, with identical values;
other files are left to it.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.result_files.fields import MAX_OBJECT_INDEX
from vocboard.evaluator.result_files.items import Items
from vocboard.evaluator.results import Layouts
from vocboard.evaluator.rules import Limits

_BLOCK_BYTES = 128 * 1024  # read at a time; limits the memory for reading
_MAX_BLOCK_BYTES = 2 * _BLOCK_BYTES
_SIDES = ("xmin", "ymin", "xmax", "ymax")

# All quantifiers are possessive, so that there is no backtracking.
_MAX_SPACE_LENGTH = 40  # characters between two elements
_SPACE = rf"[ \t\r\n]{{0,{_MAX_SPACE_LENGTH}}}+"
_WORD = r"[!-%'-;=?-~]{1,100}+"  # printable, except & < >
_NUMBER = r"[-+.0-9Ee]{1,100}+"
_INDEX = r"[0-9]{1,10}+"
_BEGINNING = re.compile(
    rb'(?:\xef\xbb\xbf)?+(?:<\?xml version="1\.0"(?: encoding="[A-Za-z][-A-Za-z0-9]{0,30}+")?+ ?+\?>)?+'
    rb"[ \t\r\n]*+<results>[ \t\r\n]*+"
)
_END = b"</results>"


class _NotPlainError(Exception):
    """The file must be read by the element reader."""


def read_plain_layouts(
    data: bytes,
    by_box: bool,
    parts: Sequence[str],
    items: Items,
    limits: Limits,
    *,
    confidence_range: tuple[float, float] | None = None,
) -> Layouts | None:
    """Return the content of a plain file with at least one layout; None if it is not plain or is invalid.

    Args:
        data: the file.
        by_box: whether people are identified by box instead of object index.
        parts: part types of the edition.
        items: of the layout test set.
        limits: limits for numbers and parts.
        confidence_range: minimum and maximum confidence; None for any.
    """
    beginning, end = _BEGINNING.match(data), data.rfind(_END)
    if beginning is None or data[end + len(_END) :].strip(b" \t\r\n"):
        return None
    try:
        pattern = _pattern(data[:_BLOCK_BYTES], by_box)
        reader = _BlockReader(pattern, parts, items, limits, confidence_range=confidence_range)
        blocks = [reader.read(block) for block in _blocks(data, beginning.end(), end)]
    except _NotPlainError:
        return None
    return _joined(blocks) if blocks else None


def line_of(data: bytes, name: str, number: int) -> int:
    """Return the 1-based line of the element with this index among those of the same name."""
    place = next(islice(re.finditer(f"<{name}>".encode(), data), number, None)).start()
    return 1 + data.count(b"\n", 0, place) + data.count(b"\r", 0, place) - data.count(b"\r\n", 0, place)


def _pattern(data: bytes, by_box: bool) -> re.Pattern[bytes]:
    """Return the pattern of the start of a layout, or of a part, with the end of the layout if it follows.

    Groups are named after elements, which must have the order of their first occurrence in the file.
    """

    def element(name: str, *content: str) -> str:
        return _SPACE.join((f"<{name}>", *content, f"</{name}>"))

    def in_order(parent: str, children: dict[str, str]) -> list[str]:
        start = data.find(f"<{parent}>".encode())
        return [children[name] for name in sorted(children, key=lambda name: data.find(f"<{name}>".encode(), start))]

    def box(prefix: str) -> str:
        sides = {side: element(side, f"(?P<{prefix}{side}>{_NUMBER})") for side in _SIDES}
        return element("bndbox", *in_order("bndbox", sides))

    person = {"bndbox": box("person_")} if by_box else {"object": element("object", f"(?P<object>{_INDEX})")}
    image, confidence = element("image", f"(?P<image>{_WORD})"), element("confidence", f"(?P<confidence>{_NUMBER})")
    beginning = _SPACE.join(("<layout>", *in_order("layout", {"image": image, **person, "confidence": confidence})))
    part_type = element("class", f"(?P<class>{_WORD})")
    part = element("part", *in_order("part", {"class": part_type, "bndbox": box("")}))
    return re.compile(rf"(?:{beginning}|{part}){_SPACE}(?:(?P<end></layout>)[ \t\r\n]*+)?+".encode())


def _blocks(data: bytes, start: int, end: int) -> Iterator[bytes]:
    """Split before layouts."""
    while start < end:
        stop = data.find(b"<layout>", start + _BLOCK_BYTES, end)
        stop = end if stop < 0 else stop
        yield data[start:stop]
        start = stop


class _BlockReader:
    """Reads blocks of complete, plain, valid layouts."""

    def __init__(
        self,
        pattern: re.Pattern[bytes],
        parts: Sequence[str],
        items: Items,
        limits: Limits,
        *,
        confidence_range: tuple[float, float] | None,
    ):
        self._pattern, self._items, self._limits, self._range = pattern, items, limits, confidence_range
        self._part_types = {name.encode(): index for index, name in enumerate(parts)}
        # White space is text of the element around it, which is limited. Nothing has it in more places than a layout:
        # before each of three elements, before each part, and at the end; a box has it in five.
        places = limits.characters_per_line // _MAX_SPACE_LENGTH
        self._max_parts = min(limits.parts_per_layout, places - 4)

    def read(self, block: bytes) -> Layouts:
        """Return the content of a block, with positions of layouts as if it were the file.

        Raises:
            _NotPlainError: the block is not plain; nothing was added.
        """
        _require(len(block) <= _MAX_BLOCK_BYTES and self._max_parts > 0)
        fields = self._pattern.split(block)  # what is before a match, its groups, what is before the next one, ...
        width = self._pattern.groups + 1
        _require(not any(fields[::width]))
        column = {name: fields[place::width] for name, place in self._pattern.groupindex.items()}
        begins = np.array([image is not None for image in column["image"]])
        ends = np.array([end is not None for end in column["end"]])
        _require(bool(ends[-1]) and np.array_equal(begins, np.roll(ends, 1)))  # one starts where the previous one ended
        part_layout = (np.cumsum(begins, dtype=np.int32) - 1)[~begins]
        _require(np.bincount(part_layout, minlength=1).max() <= self._max_parts)
        confidence = self._numbers(column["confidence"])
        if self._range is not None:
            least, greatest = self._range
            _require(bool(((least <= confidence) & (confidence <= greatest)).all()))
        return Layouts(
            object=_object_indices(column["object"]) if "object" in column else None,
            person_box=self._boxes(column, "person_") if "person_xmin" in column else None,
            confidence=confidence,
            part_layout=part_layout,
            part_type=self._types(column["class"]),
            part_box=self._boxes(column, ""),
            image=self._positions(column["image"]),  # the last: an unknown test set learns the images
        )

    def _boxes(self, column: dict[str, list[bytes | None]], prefix: str) -> NDArray[np.float64]:
        return np.stack([self._numbers(column[prefix + side]) for side in _SIDES], axis=1)

    def _numbers(self, texts: list[bytes | None]) -> NDArray[np.float64]:
        try:
            values = np.fromiter(map(float, filter(None, texts)), dtype=np.float64)
        except ValueError as error:
            raise _NotPlainError from error
        _require(bool((np.abs(values) <= self._limits.absolute_number).all()))
        return values

    def _types(self, texts: list[bytes | None]) -> NDArray[np.int8]:
        found = [self._part_types.get(text) for text in filter(None, texts)]
        _require(None not in found)
        return np.array(found, dtype=np.int8)

    def _positions(self, texts: list[bytes | None]) -> NDArray[np.int32]:
        positions = self._items.images.positions([text.decode("ascii") for text in filter(None, texts)])
        if positions is None:
            raise _NotPlainError
        return positions


def _object_indices(texts: list[bytes | None]) -> NDArray[np.int32]:
    values = np.fromiter(map(int, filter(None, texts)), dtype=np.int64)
    _require(bool(((values > 0) & (values <= MAX_OBJECT_INDEX)).all()))
    return values.astype(np.int32)


def _require(condition: bool) -> None:
    if not condition:
        raise _NotPlainError


def _joined(blocks: list[Layouts]) -> Layouts:
    counts = [len(block.image) for block in blocks]
    first = np.cumsum(counts, dtype=np.int32) - np.array(counts, dtype=np.int32)
    objects = [block.object for block in blocks if block.object is not None]
    person_boxes = [block.person_box for block in blocks if block.person_box is not None]
    return Layouts(
        image=np.concatenate([block.image for block in blocks]),
        object=np.concatenate(objects) if objects else None,
        person_box=np.concatenate(person_boxes) if person_boxes else None,
        confidence=np.concatenate([block.confidence for block in blocks]),
        part_layout=np.concatenate([block.part_layout + start for block, start in zip(blocks, first, strict=True)]),
        part_type=np.concatenate([block.part_type for block in blocks]),
        part_box=np.concatenate([block.part_box for block in blocks]),
    )
