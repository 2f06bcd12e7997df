"""A file of named arrays, written as a stream, and read as untrusted data.

Layout: `MAGIC`; the arrays one after another, each a compressed frame (LZ4) of its own; an index in JSON; the length of
the index; `MAGIC` again. The index has a header of the writer's choice and, in the order of the file, each array's
name, type, shape and stored length. Nothing in it is an object that loading would run. What the index says is checked
before anything is allocated, and an array has to be exactly as long as it says.
"""

import json
import math
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

MAGIC = b"vocboard columns\n"
COMPRESSION = "lz4"  # writes and reads at the speed of memory
TYPES = {name: np.dtype(name) for name in ("|i1", "|u1", "<i4", "<i8", "<f8")}
MAX_DIMENSIONS = 2
MAX_INDEX_BYTES = 64 * 1024 * 1024
MAX_ARRAY_BYTES = 4 * 1024**3
_LENGTH = struct.Struct("<Q")


class ColumnsError(Exception):
    """A file is not one of columns, damaged, or holds what no reader of ours writes."""


class ColumnsWriter:
    """Writes arrays one after another. The same arrays in the same order make the same file.

    Args of the constructor:
        write: takes bytes, in the order of the file.
        limit: bytes of the whole file; what goes beyond is not written.

    Attributes:
        is_complete: whether everything so far fitted within the limit.
    """

    def __init__(self, write: Callable[[bytes], object], *, limit: int) -> None:
        self._write, self._left = write, limit
        self._arrays: list[tuple[str, str, tuple[int, ...], int]] = []
        self._codec = pa.Codec(COMPRESSION)
        self.is_complete = True
        self._put(MAGIC)

    def prepare(self, name: str, array: NDArray[Any]) -> Callable[[], None]:
        """Compress an array of one of `TYPES`, in any thread; return what writes it, to be called in one thread."""
        kind = array.dtype.newbyteorder("<").str
        if kind not in TYPES:
            raise ValueError(f"{name} is of type {array.dtype}")
        content = np.ascontiguousarray(array, dtype=TYPES[kind])
        stored = (
            self._codec.compress(content.reshape(-1).view(np.uint8), asbytes=True)
            if content.size and self.is_complete
            else b""
        )
        return partial(self._add, (name, kind, array.shape, len(stored)), stored)

    def add(self, name: str, array: NDArray[Any]) -> None:
        """Write an array of one of `TYPES`."""
        self.prepare(name, array)()

    def _add(self, row: tuple[str, str, tuple[int, ...], int], stored: bytes) -> None:
        self._put(stored)
        self._arrays.append(row)

    def finish(self, header: Mapping[str, Any]) -> None:
        """Write the index."""
        index = json.dumps({"header": header, "arrays": self._arrays}, separators=(",", ":")).encode()
        if len(index) > MAX_INDEX_BYTES:
            self.is_complete = False
        self._put(index + _LENGTH.pack(len(index)) + MAGIC)

    def _put(self, content: bytes) -> None:
        self._left -= len(content)
        self.is_complete = self.is_complete and self._left >= 0
        if self.is_complete:
            self._write(content)


@dataclass(frozen=True, slots=True)
class _Stored:
    kind: np.dtype[Any]
    shape: tuple[int, ...]
    start: int
    length: int


class ColumnsFile:
    """Reads what `ColumnsWriter` has written.

    Attributes:
        header: the writer's, which may be anything that JSON can hold.
    """

    def __init__(self, file: BinaryIO) -> None:
        """Read the index.

        Raises:
            ColumnsError: this is not a file of columns.
        """
        self._file = file
        try:
            index, end = self._index()
            self.header: Any = index["header"]
            self._arrays = _checked(index["arrays"], end)
        except (ValueError, LookupError, TypeError, RecursionError, OverflowError) as error:
            raise ColumnsError(f"this is not a file of columns: {error}") from error

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all arrays, in the order of the file."""
        return tuple(self._arrays)

    def array(self, name: str, kind: type[np.generic], *, columns: int | None = None) -> NDArray[Any]:
        """Return an array: (n,), or (n, columns).

        Raises:
            ColumnsError: there is none of that name, type and shape, or its content is damaged.
        """
        stored = self._known(name, kind)
        expected = stored.shape[:1] if columns is None else (*stored.shape[:1], columns)
        if not stored.shape or stored.shape != expected:
            raise ColumnsError(f"{name} has the shape {stored.shape}")
        return self._content(name, stored)

    def label_map(self, name: str, shape: tuple[int, int]) -> NDArray[np.uint8]:
        """Return a (height, width) array of uint8.

        Raises:
            ColumnsError: there is none of that name and shape, or its content is damaged.
        """
        stored = self._known(name, np.uint8)
        if stored.shape != shape:
            raise ColumnsError(f"{name} has the shape {stored.shape}, expected {shape}")
        return self._content(name, stored)

    def _known(self, name: str, kind: type[np.generic]) -> _Stored:
        stored = self._arrays.get(name)
        if stored is None or stored.kind != np.dtype(kind).newbyteorder("<"):
            raise ColumnsError(f"there is no {name} of type {np.dtype(kind)}")
        return stored

    def _content(self, name: str, stored: _Stored) -> NDArray[Any]:
        array = np.empty(stored.shape, dtype=stored.kind)
        if not array.size:
            return array
        self._file.seek(stored.start)
        compressed = self._file.read(stored.length)
        try:
            # A stream rather than `Codec.decompress`, which does not say if less came out than was asked for.
            with pa.CompressedInputStream(pa.BufferReader(compressed), COMPRESSION) as stream:
                target = array.reshape(-1).view(np.uint8).data
                filled = 0
                while filled < len(target) and (count := stream.readinto(target[filled:])):
                    filled += count
                if filled < len(target) or stream.read(1):
                    raise ColumnsError(f"{name} is not as long as the index says")
        except (OSError, pa.ArrowException) as error:
            raise ColumnsError(f"{name} is damaged: {error}") from error
        return array

    def _index(self) -> tuple[Any, int]:
        """The index, and where it begins."""
        size = self._file.seek(0, 2)
        tail = _LENGTH.size + len(MAGIC)
        if size < len(MAGIC) + tail:
            raise ValueError("it is too short")
        self._file.seek(0)
        begins = self._file.read(len(MAGIC))
        self._file.seek(size - tail)
        (length,) = _LENGTH.unpack(self._file.read(_LENGTH.size))
        if begins != MAGIC or self._file.read() != MAGIC:
            raise ValueError("its beginning or end is another one")
        start = size - tail - length
        if length > MAX_INDEX_BYTES or start < len(MAGIC):
            raise ValueError("its index is too long")
        self._file.seek(start)
        return json.loads(self._file.read(length)), start


def _checked(rows: Any, end: int) -> dict[str, _Stored]:
    """Each array's place in the file.

    Raises:
        ValueError, LookupError, TypeError: the index is not one that `ColumnsWriter` writes.
    """
    arrays: dict[str, _Stored] = {}
    place = len(MAGIC)
    for name, kind, shape, length in rows:
        numbers = [*shape, length]
        if not isinstance(name, str) or name in arrays or len(shape) > MAX_DIMENSIONS:
            raise ValueError("an array has no name of its own, or too many dimensions")
        if not all(type(number) is int and number >= 0 for number in numbers):
            raise ValueError(f"{name} has a size that is not a number")
        if math.prod(shape) * TYPES[kind].itemsize > MAX_ARRAY_BYTES:
            raise ValueError(f"{name} is too large")
        arrays[name] = _Stored(TYPES[kind], tuple(shape), place, length)
        place += length
    if place != end:
        raise ValueError("the arrays are not as long together as the file")
    return arrays
