"""Text files as lines."""

import codecs
from dataclasses import dataclass

from evaluator.catalogue.lines import (
    BYTE_ORDER_MARK,
    LINE_ENDS_OF_OLD_MACS,
    LINE_ENDS_OF_WINDOWS,
    NOT_UTF8,
    TABS,
    TOO_MANY_LINES,
    UTF16,
)
from evaluator.editions import Limits
from evaluator.problems import Kind
from evaluator.result_files.report import FileReport


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines of a file that are not blank.

    Attributes:
        texts: the lines, without line ends.
        numbers: the 1-based number of each.
    """

    texts: list[str]
    numbers: list[int] | range


def read_lines(data: bytes, limits: Limits, report: FileReport) -> Lines | None:
    """Return the lines of a text file; None, and problems reported, if it is none or its size is beyond the limits.

    Line ends may be those of any system; a byte order mark is passed over with a warning.
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        report.add(UTF16)
        return None
    if data.startswith(codecs.BOM_UTF8):
        data = data[len(codecs.BOM_UTF8) :]
        report.add(BYTE_ORDER_MARK)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = _unified(data[: error.start].decode("utf-8", "replace")).count("\n") + 1
        report.add(NOT_UTF8, line, byte=data[error.start])
        return None
    report.habits |= _habits(text)
    texts = _unified(text).split("\n")
    if texts[-1] == "":
        texts.pop()
    if len(texts) > limits.lines_per_file:
        report.add(TOO_MANY_LINES, count=len(texts), limit=limits.lines_per_file)
        return None
    if all(map(str.strip, texts)):
        return Lines(texts, range(1, len(texts) + 1))
    kept = [number for number, line in enumerate(texts, 1) if line.strip()]
    return Lines([texts[number - 1] for number in kept], kept)


def _habits(text: str) -> set[Kind]:
    windows = "\r\n" in text
    old_mac = not windows and "\r" in text
    found = ((LINE_ENDS_OF_WINDOWS, windows), (LINE_ENDS_OF_OLD_MACS, old_mac), (TABS, "\t" in text))
    return {kind for kind, is_so in found if is_so}


def _unified(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
