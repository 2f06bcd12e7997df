"""Reads text files in blocks of some thousands of lines; all at once would take ten times the memory."""

import codecs
from collections.abc import Iterator
from dataclasses import dataclass

from vocboard.evaluator.problems import Kind
from vocboard.evaluator.problems.text_files import (
    BYTE_ORDER_MARK,
    LINE_ENDS_OF_OLD_MACS,
    LINE_ENDS_OF_WINDOWS,
    NOT_UTF8,
    TABS,
    TOO_MANY_LINES,
    UTF16,
)
from vocboard.evaluator.result_files.report import FileReport
from vocboard.evaluator.rules import Limits

_BLOCK_BYTES = 512 * 1024


@dataclass(frozen=True, slots=True)
class Lines:
    """Consecutive lines of a file, without blank ones.

    Attributes:
        texts: the lines, without line ends.
        numbers: the 1-based number of each.
    """

    texts: list[str]
    numbers: list[int] | range

    def __len__(self) -> int:
        return len(self.texts)

    def part(self, start: int, stop: int) -> "Lines":
        """Return the lines from position `start` up to `stop`."""
        return Lines(self.texts[start:stop], self.numbers[start:stop])


def read_lines(data: bytes, limits: Limits, report: FileReport) -> Iterator[Lines] | None:
    """Return the lines of a text file in non-empty blocks.

    Accepts the line ends of any system; a byte order mark is skipped with a warning.

    Returns:
        None, after reporting problems, if it is not a text file or has too many lines.
    """
    if _is_utf16(data):
        report.add(UTF16)
        return None
    if data.startswith(codecs.BOM_UTF8):
        data = data[len(codecs.BOM_UTF8) :]
        report.add(BYTE_ORDER_MARK)
    habits = _habits(data)
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if not _is_utf8(data, report):
        return None
    report.habits |= habits
    count = data.count(b"\n") + (not data.endswith(b"\n") and data != b"")
    if count > limits.lines_per_file:
        report.add(TOO_MANY_LINES, count=count, limit=limits.lines_per_file)
        return None
    return _lines(data)


def line_count(data: bytes) -> int:
    """Return the number of lines, without blank ones at the end.

    >>> line_count(b"a\\nb\\n\\n"), line_count(b"a\\rb"), line_count(b"")
    (2, 2, 0)
    """
    content = data.rstrip()
    return (content.count(b"\n") or content.count(b"\r")) + 1 if content else 0


def _lines(data: bytes) -> Iterator[Lines]:
    first = 1
    for block in blocks(data, _BLOCK_BYTES):
        texts = block.decode("utf-8").removesuffix("\n").split("\n")
        yield from without_blank(texts, first)
        first += len(texts)


def without_blank(texts: list[str], first: int) -> Iterator[Lines]:
    """Yield the non-blank lines at once, numbered from `first`; nothing if all are blank."""
    numbers = range(first, first + len(texts))
    if all(map(str.strip, texts)):
        yield Lines(texts, numbers)
    elif kept := [place for place, text in enumerate(texts) if text.strip()]:
        yield Lines([texts[place] for place in kept], [numbers[place] for place in kept])


def blocks(data: bytes, size: int) -> Iterator[bytes]:
    """Split at line ends into blocks of about `size` bytes, or one longer line."""
    start = 0
    while start < len(data):
        end = data.find(b"\n", min(start + size, len(data)) - 1) + 1 or len(data)
        yield data[start:end]
        start = end


def _is_utf16(data: bytes) -> bool:
    """Whether a file begins with the mark of UTF-16, or with characters of ASCII, each beside a zero byte."""
    head = data[:64]
    has_zeros = 0 < head.count(0) == len(head) // 2 and (not any(head[::2]) or not any(head[1::2]))
    return has_zeros or data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))


def _is_utf8(data: bytes, report: FileReport) -> bool:
    if data.isascii():
        return True
    start = 0
    for block in blocks(data, _BLOCK_BYTES):
        try:
            block.decode("utf-8")
        except UnicodeDecodeError as error:
            place = start + error.start
            report.add(NOT_UTF8, data.count(b"\n", 0, place) + 1, byte=data[place])
            return False
        start += len(block)
    return True


def _habits(data: bytes) -> set[Kind]:
    windows = b"\r\n" in data
    old_mac = not windows and b"\r" in data
    found = ((LINE_ENDS_OF_WINDOWS, windows), (LINE_ENDS_OF_OLD_MACS, old_mac), (TABS, b"\t" in data))
    return {kind for kind, is_so in found if is_so}
