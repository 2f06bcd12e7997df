"""Decompression as a stream with limits."""

import bz2
import gzip
import io
import lzma
import zlib
from typing import BinaryIO, Protocol

from vocboard.evaluator.archives.limits import ArchiveError, Meter
from vocboard.evaluator.byte_sizes import MIB
from vocboard.evaluator.problems.archives import DAMAGED_ARCHIVE

# `xz -9` needs 65 MiB; a header can request gigabytes.
XZ_MEMORY_BYTES = 128 * MIB

CHUNK_BYTES = 1 * MIB
READ_AT_ONCE_BYTES = 8 * MIB  # of a member whose content is wanted: most are read without joining pieces

_DAMAGE = (EOFError, OSError, zlib.error, lzma.LZMAError)


class Readable(Protocol):
    """A source of bytes that can be read in order."""

    def read(self, number: int, /) -> bytes:
        """Return up to `number` bytes; empty at the end."""


def decompressed(file: BinaryIO, head: bytes) -> tuple[Readable, str | None]:
    """Return the decompressed stream of `file` and the name of its compression, None if there is none."""
    if head.startswith(b"\x1f\x8b"):
        return gzip.GzipFile(fileobj=file), "gzip"
    if head.startswith(b"BZh"):
        return bz2.BZ2File(file), "bzip2"
    if head.startswith(b"\xfd7zXZ\0"):
        return io.BufferedReader(_XzStream(file), CHUNK_BYTES), "xz"
    return file, None


class MeteredStream:
    """Reads exactly the requested number of bytes, and counts them."""

    def __init__(self, stream: Readable, meter: Meter):
        self._stream, self._meter = stream, meter
        self.position = 0

    def read(self, number: int) -> bytes:
        """Return the next `number` bytes; fewer only at the end.

        Raises:
            ArchiveError: the stream is damaged, or a limit is reached.
        """
        chunks = []
        while number > 0:
            chunk = self._read_some(min(number, READ_AT_ONCE_BYTES))
            if not chunk:
                break
            chunks.append(chunk)
            number -= len(chunk)
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)

    def skip(self, number: int) -> int:
        """Skip `number` bytes; return how many there were."""
        left = number
        while left > 0:
            chunk = self._read_some(min(left, CHUNK_BYTES))
            if not chunk:
                break
            left -= len(chunk)
        return number - left

    def drain(self) -> None:
        """Read to the end, so that the final checksum is verified."""
        while self._read_some(CHUNK_BYTES):
            pass

    def _read_some(self, number: int) -> bytes:
        try:
            chunk = self._stream.read(number)
        except _DAMAGE as error:
            where = f"after {self.position:,} unpacked bytes"
            raise ArchiveError(DAMAGED_ARCHIVE.at(where=where, reason=_reason(error))) from error
        self.position += len(chunk)
        self._meter.count_bytes(len(chunk))
        return chunk


def _reason(error: BaseException) -> str:
    if isinstance(error, EOFError):
        return "the compressed data end too early"
    return "the compressed data are not valid"


class _XzStream(io.RawIOBase):
    """xz decompression with a memory limit, which `lzma.LZMAFile` does not support."""

    def __init__(self, file: BinaryIO):
        self._file = file
        self._decompressor = self._new()
        self._pending = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview[int]") -> int:  # type: ignore[override]  # typeshed: WriteableBuffer
        data = self._next(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def _next(self, number: int) -> bytes:
        while True:
            if self._decompressor.eof:
                # A file can consist of several streams with zeros between them.
                self._pending = (self._decompressor.unused_data or self._pending).lstrip(b"\0")
                self._pending = self._pending or self._file.read(CHUNK_BYTES).lstrip(b"\0")
                if not self._pending:
                    return b""
                self._decompressor = self._new()
            if self._decompressor.needs_input and not self._pending:
                self._pending = self._file.read(CHUNK_BYTES)
                if not self._pending:
                    raise EOFError
            pending, self._pending = self._pending, b""
            data = self._decompressor.decompress(pending, max_length=number)
            if data:
                return data

    @staticmethod
    def _new() -> lzma.LZMADecompressor:
        return lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=XZ_MEMORY_BYTES)
