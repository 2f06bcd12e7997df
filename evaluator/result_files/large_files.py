"""Large text files read as columns by a column reader: only plain ones, everything else is left to the line walker.

Plain is a file of ASCII text whose lines end in a line feed and divide their fields by single spaces. What is accepted
here the line walker accepts too, with the same values to the last bit: both round decimal numbers correctly.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from evaluator.editions import Limits
from evaluator.result_files.items import Index
from evaluator.result_files.text import blocks

LARGE_BYTES = 128 * 1024  # of one file; an upload of twenty such pays for importing the column reader
_PART_BYTES = 2 * 1024 * 1024  # read at once, by several threads: bounds what reading needs besides the columns
_SMALLER_PARTS_BYTES = (256 * 1024, 32 * 1024)  # of a part with a wrong line, and again
_MOST_THREADS = 4  # more don't help, and each takes address space, which the server limits
_columns_of_images: WeakKeyDictionary[Index[str], Any] = WeakKeyDictionary()  # each made once for all files of a task
_OTHER_LINE_ENDS_AND_TABS = (b"\r", b"\t")  # they mean warnings


class PlainColumns(NamedTuple):
    """The columns of some lines: (n,) int32 positions of the images, and (k, n) float64 numbers, finite."""

    image: NDArray[np.int32]
    numbers: NDArray[np.float64]


def is_large_and_plain(data: bytes, limits: Limits) -> bool:
    """Whether a file is for the column reader; one with too many lines is not."""
    if len(data) < LARGE_BYTES or not _is_plain(data, limits.characters_per_line):
        return False
    return data.count(b"\n") + (not data.endswith(b"\n")) <= limits.lines_per_file


def parts_of(data: bytes) -> Iterator[bytes]:
    """Cut a plain file after line ends into parts to be read at once."""
    return blocks(data, _PART_BYTES)


def smaller_parts_of(part: bytes) -> Iterator[bytes] | None:
    """Cut a part in which something is wrong, so that only what is near that is left to the line walker.

    None if the part is so small that the line walker takes it whole.
    """
    size = next((size for size in _SMALLER_PARTS_BYTES if size < len(part) // 2), None)
    return None if size is None else blocks(part, size)


def read_part(data: bytes, numbers: int, images: Index[str], limits: Limits) -> PlainColumns | None:
    """Read lines with an image identifier and so many numbers; None if anything is wrong with any of them."""
    columns = _parse(data, numbers)
    if columns is None:
        return None
    # Chunk by chunk: `ChunkedArray.to_numpy` takes memory of the default pool, whatever `_parse` sets.
    values = np.array([np.concatenate([chunk.to_numpy() for chunk in column.chunks]) for column in columns[1:]])
    # A comparison with NaN is false, so this refuses NaN and the infinities too.
    if not (np.abs(values) <= limits.absolute_number).all():
        return None
    image = _positions(columns[0], images)
    return None if image is None else PlainColumns(image, values)


def _is_plain(data: bytes, characters_per_line: int) -> bool:
    if not data.isascii() or any(mark in data for mark in _OTHER_LINE_ENDS_AND_TABS):
        return False
    start = 0
    while len(data) - start > characters_per_line:
        # The last line end in reach: every line up to there is short enough.
        end = data.rfind(b"\n", start, start + characters_per_line + 1)
        if end < 0:
            return False
        start = end + 1
    return True


def _parse(data: bytes, numbers: int) -> list[Any] | None:
    """Return one Arrow column for each field; None if a line has other fields, or a number is not plain."""
    import pyarrow as pa  # noqa: PLC0415  # takes a tenth of a second, and few uploads have large files
    from pyarrow import csv  # noqa: PLC0415

    pa.set_cpu_count(min(pa.cpu_count(), _MOST_THREADS))
    pa.set_memory_pool(pa.system_memory_pool())  # the others reserve a gigabyte of address space, see `_MOST_THREADS`
    names = [str(place) for place in range(1 + numbers)]
    types = {name: pa.string() if name == "0" else pa.float64() for name in names}
    try:
        table = csv.read_csv(
            pa.BufferReader(data),
            csv.ReadOptions(column_names=names),
            csv.ParseOptions(delimiter=" ", quote_char=False, ignore_empty_lines=False),
            csv.ConvertOptions(column_types=types, null_values=[], check_utf8=False),
        )
    except pa.ArrowInvalid:
        return None
    return list(table.columns)


def _positions(column: Any, images: Index[str]) -> NDArray[np.int32] | None:
    if images.is_known:
        return _known_positions(column, images)
    encoded = column.combine_chunks().dictionary_encode()
    names = encoded.dictionary.to_pylist()
    if not _are_single_fields(names):
        return None
    positions = images.positions(names)
    return None if positions is None else positions[encoded.indices.to_numpy()]


def _known_positions(column: Any, images: Index[str]) -> NDArray[np.int32] | None:
    import pyarrow as pa  # noqa: PLC0415
    from pyarrow import compute  # noqa: PLC0415

    listed = _columns_of_images.get(images)
    if listed is None:
        names = images.listed()
        listed = _columns_of_images[images] = pa.array(names if _are_single_fields(names) else [], pa.string())
    found = compute.index_in(column.combine_chunks(), listed)
    if found.null_count:
        return None
    positions: NDArray[np.int32] = found.to_numpy()
    return positions


def _are_single_fields(names: list[str]) -> bool:
    """Whether the line walker would not divide any of them: there is other white space than blanks."""
    return " ".join(names).split() == names
