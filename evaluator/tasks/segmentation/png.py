"""Decodes untrusted PNG files of class indices.

The header is checked first, and the decoder only gets the critical chunks, so that text, colour profile and animation
chunks are never decompressed.
Source: PNG specification (third edition), sections 5, 7, 8, 9 and 11.
"""

import functools
import io
import re
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.file_type import describe
from vocboard.evaluator.problems import Kind, counted
from vocboard.evaluator.tasks.segmentation.problems import (
    NOT_A_PNG,
    PNG_DEPTH,
    PNG_RGB,
    PNG_TOO_LARGE,
    PNG_UNREADABLE,
    PNG_WRONG_SIZE,
)

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_CRITICAL = (b"IHDR", b"PLTE", b"IDAT", b"IEND")
_IN_ORDER = re.compile(rb"IHDR(PLTE)?(IDAT)+IEND")
_MAX_PIXELS = 50_000_000
_MAX_CHUNKS = 100_000
_MAX_PALETTE_BYTES = 3 * 256
# Left, top, and the distances of columns and of rows, of each pass.
_INTERLACED_PASSES = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))
_GREYSCALE, _INDEXED = 0, 3
_CHANNELS = {2: 3, 4: 2, 6: 4}  # of the other colour types
_COLOUR_TYPES = {
    _GREYSCALE: "greyscale",
    2: "RGB colour",
    _INDEXED: "indexed colour",
    4: "greyscale with alpha",
    6: "RGB colour with alpha",
}


class PngError(Exception):
    """The file is not acceptable; `kind` and `found` describe the problem."""

    def __init__(self, kind: Kind, **found: Any):
        super().__init__(found.get("reason", kind.title))
        self.kind, self.found = kind, found


@dataclass(frozen=True, eq=False, slots=True)
class IndexedImage:
    """A decoded PNG.

    Attributes:
        labels: (height, width) uint8 palette indices.
        palette: red, green, blue of each index; None for a greyscale image, whose grey values are the indices.
    """

    labels: NDArray[np.uint8]
    palette: bytes | None


def read_indexed(data: bytes, size: tuple[int, int] | None) -> IndexedImage:
    """Decode an 8-bit PNG with a palette, or one in greyscale, which the development kits read in the same way.

    Args:
        data: the file.
        size: expected width and height; None if unknown.

    Raises:
        PngError: it is not a PNG, has another kind or size, or is damaged.
    """
    if not data.startswith(_SIGNATURE):
        raise PngError(NOT_A_PNG, looks=describe(data[:200]))
    chunks = [chunk for chunk in _chunks(data) if chunk.kind in _CRITICAL]
    header = _read_header(chunks, size)
    if header.is_greyscale:
        chunks = [chunk for chunk in chunks if chunk.kind != b"PLTE"]
    for chunk in chunks[1:]:  # the header's has been checked
        _check_checksum(chunk)
    if not _IN_ORDER.fullmatch(b"".join(chunk.kind for chunk in chunks)):
        raise _damaged("its chunks are incomplete or in the wrong order")
    if header.is_greyscale:
        return IndexedImage(_decode(chunks, header), None)
    palette = chunks[1].content if chunks[1].kind == b"PLTE" else b""
    if not 0 < len(palette) <= _MAX_PALETTE_BYTES or len(palette) % 3:
        raise _damaged("its palette is missing or not valid")
    return IndexedImage(_decode(chunks, header), bytes(palette))


def check_rows(data: bytes) -> None:
    """Check that a PNG of any kind has all of its rows: Pillow would fill missing ones with background.

    Raises:
        PngError: it has not, or is damaged.
    """
    chunks = list(_chunks(data))
    _inflate(chunks, _read_header(chunks, None, is_any_kind=True).data_bytes)


def has_voc_colours(palette: bytes, classes: int) -> bool:
    """Whether background and classes have the colours of the VOC colour map."""
    colours = voc_colours(classes + 1)
    return palette[: len(colours)] == colours


@functools.cache
def voc_colours(number: int) -> bytes:
    """Return the first colours of the VOC colour map as red, green, blue values.

    Source: VOC development kit, VOClabelcolormap: three bits of the index at a time go to the three colours, from the
    highest bit down.

    >>> list(voc_colours(3))
    [0, 0, 0, 128, 0, 0, 0, 128, 0]
    """
    index = np.arange(number)
    colours = np.zeros((number, 3), dtype=np.uint8)
    for place in range(8):
        bits = (index[:, np.newaxis] >> (3 * place + np.arange(3))) & 1
        colours |= (bits << (7 - place)).astype(np.uint8)
    return colours.tobytes()


@functools.cache
def voc_brightness(classes: int) -> tuple[frozenset[int], frozenset[int]]:
    """Return the grey values of the VOC colours of background, classes and void, rounded and truncated.

    Source: Recommendation ITU-R BT.601: 0.299 red + 0.587 green + 0.114 blue, as Pillow, OpenCV and MATLAB convert.

    >>> sorted(voc_brightness(3)[0])
    [0, 38, 75, 113, 220]
    """
    colours = np.frombuffer(voc_colours(256), dtype=np.uint8).reshape(256, 3)[[*range(classes + 1), 255]]
    thousandths = colours.astype(np.int64) @ (299, 587, 114)
    return frozenset(((thousandths + 500) // 1000).tolist()), frozenset((thousandths // 1000).tolist())


@dataclass(frozen=True, slots=True)
class _Chunk:
    kind: bytes
    content: memoryview
    whole: memoryview


def _chunks(data: bytes) -> Iterator[_Chunk]:
    """Split into chunks: length, type, content, checksum."""
    view = memoryview(data)
    place, count = len(_SIGNATURE), 0
    while place < len(data):
        count += 1
        if count > _MAX_CHUNKS:
            raise _damaged(f"it has more than {_MAX_CHUNKS:,} chunks")
        if len(data) - place < 12:
            raise _damaged("it ends within a chunk")
        length, kind = struct.unpack_from(">I4s", data, place)
        end = place + 12 + length
        if end > len(data):
            raise _damaged("it ends within a chunk")
        yield _Chunk(kind, view[place + 8 : end - 4], view[place:end])
        place = end
        if kind == b"IEND":
            return
    raise _damaged("it has no end")


def _check_checksum(chunk: _Chunk) -> None:
    kind_and_content, checksum = chunk.whole[4:-4], chunk.whole[-4:]
    if zlib.crc32(kind_and_content) != int.from_bytes(checksum):
        raise _damaged(f"the checksum of its chunk {chunk.kind.decode()} is wrong")


@dataclass(frozen=True, slots=True)
class _Header:
    width: int
    height: int
    bits: int  # per pixel
    is_greyscale: bool
    is_interlaced: bool

    @property
    def data_bytes(self) -> int:
        """Number of bytes of the decompressed data: a filter and the pixels of each row, in each pass."""
        if not self.is_interlaced:
            return self.height * self._row_bytes(self.width)
        passes = (
            (len(range(top, self.height, down)), len(range(left, self.width, right)))
            for left, top, right, down in _INTERLACED_PASSES
        )
        return sum(rows * self._row_bytes(columns) for rows, columns in passes if columns)

    def _row_bytes(self, columns: int) -> int:
        return 1 + (columns * self.bits + 7) // 8


def _read_header(chunks: list[_Chunk], size: tuple[int, int] | None, *, is_any_kind: bool = False) -> _Header:
    if not chunks or chunks[0].kind != b"IHDR" or len(chunks[0].content) != 13:
        raise _damaged("it does not begin with a header")
    _check_checksum(chunks[0])
    if sum(chunk.kind == b"IHDR" for chunk in chunks) != 1:
        raise _damaged("it has two headers")
    width, height, bits, colour_type, compression, filtering, interlacing = struct.unpack(">IIBBBBB", chunks[0].content)
    if colour_type not in _COLOUR_TYPES:
        raise _damaged(f"its colour type is {colour_type}, which does not exist")
    kind_of_image = _COLOUR_TYPES[colour_type]
    if colour_type in _CHANNELS and not is_any_kind:
        raise PngError(PNG_RGB, found=f"{kind_of_image}, {counted(bits, 'bit')} per channel")
    if bits != 8 and not is_any_kind:
        raise PngError(PNG_DEPTH, found=f"{kind_of_image}, {counted(bits, 'bit')} per pixel")
    if size is not None and (width, height) != size:
        expected = {"expected_width": size[0], "expected_height": size[1]}
        raise PngError(PNG_WRONG_SIZE, width=width, height=height, **expected)
    if not 0 < width * height <= _MAX_PIXELS:
        raise PngError(PNG_TOO_LARGE, width=width, height=height, limit=_MAX_PIXELS)
    if compression or filtering or interlacing > 1:
        raise _damaged("its header names a method that does not exist")
    return _Header(width, height, bits * _CHANNELS.get(colour_type, 1), colour_type == _GREYSCALE, interlacing == 1)


def _decode(chunks: list[_Chunk], header: _Header) -> NDArray[np.uint8]:
    """Decode the data, which must be complete: Pillow would fill missing rows with background."""
    unfiltered = _unfiltered(_inflate(chunks, header.data_bytes), header)
    return _decode_with_pillow(chunks) if unfiltered is None else unfiltered


def _unfiltered(data: NDArray[np.uint8], header: _Header) -> NDArray[np.uint8] | None:
    """Return the labels if no row has a filter, as in most images with a palette; Pillow takes twice as long."""
    if header.is_interlaced:
        return None
    rows = data.reshape(header.height, 1 + header.width)
    filters, labels = rows[:, 0], rows[:, 1:]
    return None if filters.any() else np.ascontiguousarray(labels)


def _inflate(chunks: list[_Chunk], size: int) -> NDArray[np.uint8]:
    """Return the first (size,) bytes of the data, decompressed; what follows them is not read.

    Raises:
        PngError: there are fewer, or they are damaged.
    """
    compressed = b"".join(chunk.content for chunk in chunks if chunk.kind == b"IDAT")
    decompressor = zlib.decompressobj()
    try:
        data = decompressor.decompress(compressed, size + 1)
    except zlib.error as error:
        raise _damaged("its data cannot be decompressed") from error
    if len(data) < size:
        raise _damaged("its data end before the last row")
    if len(data) == size and not decompressor.eof:
        raise _damaged("its data end before their checksum")
    return np.frombuffer(data, dtype=np.uint8, count=size)


def _decode_with_pillow(chunks: list[_Chunk]) -> NDArray[np.uint8]:
    from PIL import Image, PngImagePlugin  # noqa: PLC0415  # slow to import, and most uploads have no label maps

    clean = io.BytesIO(_SIGNATURE + b"".join(chunk.whole for chunk in chunks))
    try:
        # The plugin itself, because Image.open would try other decoders.
        with PngImagePlugin.PngImageFile(clean) as image:
            width, height = image.size
            return np.frombuffer(image.tobytes(), dtype=np.uint8).reshape(height, width)
    except (OSError, SyntaxError, ValueError, EOFError, Image.DecompressionBombError) as error:
        raise _damaged("its data cannot be decoded") from error


def _damaged(reason: str) -> PngError:
    return PngError(PNG_UNREADABLE, reason=reason)
