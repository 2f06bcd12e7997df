"""Reads large, plain text files with a columnar reader; other files are left to the line reader.

A plain file is ASCII text with line feeds and single spaces between fields. The line reader accepts everything that is
accepted here, with identical values, because both round decimal numbers correctly. So participants can do without the
columnar reader, pyarrow (`vocboard[fast]`).
"""

import sys
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.result_files.item_columns import item_columns
from vocboard.evaluator.result_files.items import Items
from vocboard.evaluator.result_files.text import blocks
from vocboard.evaluator.rules import Limits

LARGE_BYTES = 128 * 1024  # of one file; an upload of twenty such pays for importing the column reader
LARGE_BYTES_ONCE_IMPORTED = 16 * 1024  # it takes less time from here on; what reads uploads on servers has imported it
_PART_BYTES = 8 * 1024 * 1024  # read at a time, by several threads; limits the memory for reading
_SEARCHED_AT_ONCE_BYTES = 64 * 1024  # what a processor's cache holds
_SMALLER_PARTS_BYTES = (1024 * 1024, 128 * 1024, 32 * 1024)  # of a part with a wrong line, and again
MAX_BYTES_AFTER_ERRORS = 2 * 1024 * 1024  # of a part that is tried whole once a line was wrong: they seldom come alone
_MIN_BLOCK_BYTES, _MAX_BLOCK_BYTES = 128 * 1024, 1024 * 1024  # for one thread
_MAX_THREADS = 4  # more don't help, and each takes address space, which the server limits
_NOT_PLAIN = (b"\r", b"\t", b"\0")  # they mean warnings, or UTF-16


class PlainColumns(NamedTuple):
    """The columns of some lines: (n,) int32 positions of the items, and (k, n) float64 numbers, finite."""

    item: NDArray[np.int32]
    numbers: NDArray[np.float64]


@cache
def has_column_reader() -> bool:
    """Whether pyarrow is installed."""
    try:
        import pyarrow.csv  # noqa: F401, PLC0415  # importing takes a tenth of a second, and few uploads have large files
    except ModuleNotFoundError:
        return False
    return True


def large_bytes() -> int:
    """Return from how many bytes on files are large."""
    return LARGE_BYTES_ONCE_IMPORTED if "pyarrow.csv" in sys.modules else LARGE_BYTES


def is_large_and_plain(data: bytes, limits: Limits) -> bool:
    """Whether to use the columnar reader for a file; not if it has too many lines."""
    if len(data) < large_bytes() or not data.isascii() or any(mark in data for mark in _NOT_PLAIN):
        return False
    # Counting lines is slow, and every line has at least one byte.
    if len(data) > limits.lines_per_file and data.count(b"\n") + 1 > limits.lines_per_file:
        return False
    return _are_short(data, limits.characters_per_line) and has_column_reader()


def parts_of(data: bytes) -> Iterator[bytes]:
    """Split a plain file at line ends into parts."""
    return blocks(data, _PART_BYTES)


def smaller_parts_of(part: bytes) -> Iterator[bytes] | None:
    """Split a part with errors, so that the line reader only reads lines near them.

    Returns None for parts that are small enough for the line reader.
    """
    size = next((size for size in _SMALLER_PARTS_BYTES if size < len(part) // 2), None)
    return None if size is None else blocks(part, size)


def read_part(data: bytes, names: int, numbers: int, items: Items, limits: Limits) -> PlainColumns | None:
    """Read lines with a number of fields for the item, followed by a number of numeric fields.

    Returns:
        None if any line is invalid or blank.
    """
    columns = _parse(data, names, numbers)
    if columns is None:
        return None
    values = np.empty((numbers, len(columns[0])))
    for row, column in zip(values, columns[names:], strict=True):
        # By chunk: `ChunkedArray.to_numpy` uses the default memory pool, not that of `_parse`.
        np.concatenate([chunk.to_numpy() for chunk in column.chunks], out=row)
    # Comparisons with NaN are false, so this also rejects NaN and infinities.
    if not (-limits.absolute_number <= values.min() and values.max() <= limits.absolute_number):
        return None
    item = item_columns(items).positions([column.combine_chunks() for column in columns[:names]])
    return None if item is None else PlainColumns(item, values)


def _are_short(data: bytes, characters_per_line: int) -> bool:
    """Whether all lines are shorter than the limit, because every piece of half that length has a line end."""
    half = max(1, characters_per_line // 2)
    pieces = np.frombuffer(data, dtype=np.uint8, count=len(data) // half * half).reshape(-1, half)
    at_once = max(1, _SEARCHED_AT_ONCE_BYTES // half)
    return all(
        bool((pieces[start : start + at_once] == ord("\n")).any(axis=1).all())
        for start in range(0, len(pieces), at_once)
    )


def _parse(data: bytes, names: int, numbers: int) -> list[Any] | None:
    """Return one Arrow column per field; None if a line has other fields, or a number is not plain."""
    import pyarrow as pa  # noqa: PLC0415  # see `has_column_reader`
    from pyarrow import csv  # noqa: PLC0415

    threads = min(pa.cpu_count(), _MAX_THREADS)
    pa.set_cpu_count(threads)
    pa.set_memory_pool(pa.system_memory_pool())  # other pools reserve a gigabyte of address space; see `_MAX_THREADS`
    block = min(max(len(data) // threads + 1, _MIN_BLOCK_BYTES), _MAX_BLOCK_BYTES)
    types = {str(place): pa.string() if place < names else pa.float64() for place in range(names + numbers)}
    try:
        table = csv.read_csv(
            pa.BufferReader(data),
            csv.ReadOptions(column_names=list(types), block_size=block),
            csv.ParseOptions(delimiter=" ", quote_char=False, ignore_empty_lines=False),
            csv.ConvertOptions(column_types=types, null_values=[], check_utf8=False),
        )
    except pa.ArrowInvalid:
        return None
    return list(table.columns)
