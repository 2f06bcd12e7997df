"""Tar archives as exports write them: plain files with short names, nothing else.

Reading takes nothing but that: no compression, links, extended headers or long names, so that an archive never yields
more than its own size, and a header never asks for memory.
"""

import tarfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Self

BLOCK = tarfile.BLOCKSIZE
CHUNK_BYTES = 1024 * 1024
_OTHER_FILE = "This is not an export of a challenge, a tar file that is not compressed."


class TarError(Exception):
    """A file is not an archive that an export writes."""


@dataclass(frozen=True, slots=True)
class File:
    """A file to put into an archive, opened when its turn comes."""

    name: str
    size: int
    open: Callable[[], AbstractContextManager[BinaryIO]]

    @classmethod
    def at(cls, path: Path, name: str) -> Self:
        """Return a file of this machine."""
        return cls(name, path.stat().st_size, lambda: path.open("rb"))


def packed_size(files: Iterable[File]) -> int:
    """Return the bytes of the archive that `pack` writes."""
    return sum(BLOCK + _padded(file.size) for file in files) + 2 * BLOCK


def pack(files: Iterable[File]) -> Iterator[bytes]:
    """Yield an archive piece by piece.

    Raises:
        OSError: a file cannot be read, or is shorter by now.
    """
    for file in files:
        info = tarfile.TarInfo(file.name)
        info.size = file.size
        info.mode = 0o644
        yield info.tobuf(tarfile.GNU_FORMAT)
        left = file.size
        with file.open() as opened:
            while left:
                chunk = opened.read(min(left, CHUNK_BYTES))
                if not chunk:
                    raise OSError(f"{file.name} is shorter than it was")
                left -= len(chunk)
                yield chunk
        yield bytes(_padded(file.size) - file.size)
    yield bytes(2 * BLOCK)


@dataclass(frozen=True, slots=True)
class Member:
    """A file of an archive, readable until the next one is asked for."""

    name: str
    size: int
    _file: BinaryIO

    def chunks(self) -> Iterator[bytes]:
        """Yield the content.

        Raises:
            TarError: the archive ends before.
        """
        left = self.size
        while left:
            chunk = self._file.read(min(left, CHUNK_BYTES))
            if not chunk:
                raise TarError("The archive is cut off.")
            left -= len(chunk)
            yield chunk

    def lines(self, *, max_bytes: int) -> Iterator[bytes]:
        """Yield the lines of the content, without their ends.

        Raises:
            TarError: the archive ends before, or a line is longer than `max_bytes` bytes.
        """
        rest = b""
        for chunk in self.chunks():
            *lines, rest = (rest + chunk).split(b"\n")
            yield from lines
            if len(rest) > max_bytes:
                raise TarError(f"{self.name} has a line of more than {max_bytes:,} bytes.")
        if rest:
            yield rest


def unpack(file: BinaryIO) -> Iterator[Member]:
    """Yield the files of an archive in their order.

    >>> from io import BytesIO
    >>> next(unpack(BytesIO(b"another file " * 99)))
    Traceback (most recent call last):
    vocboard.app.transfer.tar.TarError: This is not an export of a challenge, a tar file that is not compressed.

    Raises:
        TarError: it is not one that `pack` writes.
    """
    place, seen = 0, set()
    size = file.seek(0, 2)
    while True:
        file.seek(place)
        block = file.read(BLOCK)
        if len(block) < BLOCK:
            raise TarError("The archive is cut off." if place else _OTHER_FILE)
        if not any(block):
            return
        try:
            info = tarfile.TarInfo.frombuf(block, "utf-8", "strict")
        except (tarfile.HeaderError, ValueError) as error:
            raise TarError(f"The archive is damaged at byte {place:,}." if place else _OTHER_FILE) from error
        if info.type != tarfile.REGTYPE or info.size < 0 or info.name in seen:
            raise TarError(f"The archive is not an export of a challenge: see byte {place:,}.")
        begins = place + BLOCK
        place = begins + _padded(info.size)
        if place > size:
            raise TarError("The archive is cut off.")
        seen.add(info.name)
        yield Member(info.name, info.size, file)


def _padded(size: int) -> int:
    return -(-size // BLOCK) * BLOCK
