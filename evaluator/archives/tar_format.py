"""Tar archives, read header by header.

This does not use `tarfile.open`, which reads extended headers of any size into memory and hides sparse files and
repeated names. `TarInfo.frombuf` parses single headers.
Source: POSIX.1-2001 pax interchange format; GNU tar manual, "Basic Tar Format".
"""

import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

from vocboard.evaluator.archives.compressed import MeteredStream, decompressed
from vocboard.evaluator.archives.limits import ArchiveError, ArchiveLimits, Meter
from vocboard.evaluator.archives.member import Member
from vocboard.evaluator.archives.naming import plain_name, printable
from vocboard.evaluator.byte_sizes import KIB, size_text
from vocboard.evaluator.file_type import describe
from vocboard.evaluator.problems import Problem
from vocboard.evaluator.problems.archives import DAMAGED_ARCHIVE, MEMBER_TOO_LARGE, NOT_A_REGULAR_FILE, NOT_AN_ARCHIVE

_BLOCK = 512
_EXTENDED_HEADER_BYTES = 64 * KIB

_LONG_NAME, _LONG_LINK, _PAX, _PAX_GLOBAL, _SPARSE = b"L", b"K", b"x", b"g", b"S"
_REGULAR = {b"0", b"\0", b"7"}
_DIRECTORY = b"5"
_WITHOUT_CONTENT = {b"1": "hard link", b"2": "symbolic link", b"3": "device", b"4": "device", b"6": "named pipe"}


@dataclass(slots=True)
class _Extension:
    """Data from extended headers for the next header."""

    name: str | None = None
    size: int | None = None
    sparse: bool = False
    pax: dict[bytes, bytes] = field(default_factory=dict)


def tar_members(
    file: BinaryIO, head: bytes, limits: ArchiveLimits, report: Callable[[Problem], None]
) -> Iterator[Member]:
    """Yield the regular files of a tar archive, plain or compressed with gzip, bzip2 or xz.

    Raises:
        ArchiveError: as for `members`; also if the file is not a tar archive.
    """
    meter = Meter(limits, packed_bytes=file.tell)
    unpacked, compression = decompressed(file, head)
    stream = MeteredStream(unpacked, meter)
    yield from _members(stream, compression, meter, report)


def _members(
    stream: MeteredStream, compression: str | None, meter: Meter, report: Callable[[Problem], None]
) -> Iterator[Member]:
    extension = _Extension()
    first = True
    while True:
        block = stream.read(_BLOCK)
        if len(block) == _BLOCK and not any(block):
            stream.drain()
            return
        header = _header(block, stream, compression if first else None, first=first)
        first = False
        if header.type in {_LONG_NAME, _LONG_LINK, _PAX, _PAX_GLOBAL}:
            _extend(extension, header, stream)
            continue
        meter.count_member()
        size = header.size if extension.size is None else extension.size
        raw = extension.name or header.name
        name = plain_name(raw, meter.limits, report)
        refused = _refusal(header, extension, name, size, meter.limits)
        sparse_map_follows = header.type == _SPARSE and block[482] != 0
        extension = _Extension()
        while sparse_map_follows:
            sparse_map_follows = _exactly(stream, _BLOCK)[504] != 0
        if refused is not None:
            report(refused)
        if header.type == _DIRECTORY or header.type in _WITHOUT_CONTENT:
            continue
        content = _Content(stream, size, meter)
        if name and refused is None:
            yield Member(name, size, content.read, "\\" in raw)
        content.finish()


class _Content:
    """Reads the bytes of one member and the padding after them."""

    def __init__(self, stream: MeteredStream, size: int, meter: Meter | None = None):
        self._stream, self._size, self._read = stream, size, 0
        self._meter = meter

    def read(self, number: int) -> bytes:
        self._read += number
        return _exactly(self._stream, number)

    def finish(self) -> None:
        padded = -(-self._size // _BLOCK) * _BLOCK
        left = padded - self._read
        if self._meter is not None and left > _BLOCK:
            self._meter.count_unread_bytes(left)
        if self._stream.skip(left) != left:
            raise _cut_short(self._stream)


def _header(block: bytes, stream: MeteredStream, compression: str | None, *, first: bool) -> tarfile.TarInfo:
    try:
        header = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    except tarfile.HeaderError as error:
        if first:
            looks = describe(block) if compression is None else f"is compressed with {compression}, but holds no tar"
            raise ArchiveError(NOT_AN_ARCHIVE.at(looks=looks)) from error
        if len(block) < _BLOCK:
            raise _cut_short(stream) from error
        raise _damaged(stream, "there is no valid tar header") from error
    if header.size < 0:
        raise _damaged(stream, "a tar header gives a negative size")
    return header


def _extend(extension: _Extension, header: tarfile.TarInfo, stream: MeteredStream) -> None:
    if header.size > _EXTENDED_HEADER_BYTES:
        raise _damaged(stream, f"an extended header has {header.size:,} bytes")
    content = _Content(stream, header.size)
    data = content.read(header.size)
    content.finish()
    if header.type == _LONG_NAME:
        extension.name = data.rstrip(b"\0").decode("utf-8", "surrogateescape")
    elif header.type == _PAX:
        records = _pax_records(data, stream)
        if b"path" in records:
            extension.name = records[b"path"].decode("utf-8", "surrogateescape")
        if b"size" in records:
            extension.size = _pax_size(records[b"size"], stream)
        extension.sparse = any(key.startswith(b"GNU.sparse.") for key in records)


def _pax_records(data: bytes, stream: MeteredStream) -> dict[bytes, bytes]:
    """Records are `<length> <key>=<value>\\n`, the length counting all of the record."""
    records = {}
    while data:
        digits, space, _ = data.partition(b" ")
        length = int(digits) if digits.isdigit() and len(digits) < 10 else 0
        record = data[len(digits) + 1 : length]
        key, equals, value = record.partition(b"=")
        if not space or not equals or not value.endswith(b"\n") or len(data) < length:
            raise _damaged(stream, "an extended header is not valid")
        records[key] = value[:-1]
        data = data[length:]
    return records


def _pax_size(value: bytes, stream: MeteredStream) -> int:
    if not value.isdigit() or len(value) > 20:
        raise _damaged(stream, "an extended header gives no valid size")
    return int(value)


def _refusal(
    header: tarfile.TarInfo, extension: _Extension, name: str | None, size: int, limits: ArchiveLimits
) -> Problem | None:
    if name is None or header.type == _DIRECTORY:
        return None  # unsafe names have already been reported
    if header.type in _WITHOUT_CONTENT:
        return NOT_A_REGULAR_FILE.at(printable(name), what=_WITHOUT_CONTENT[header.type])
    if header.type == _SPARSE or extension.sparse:
        return NOT_A_REGULAR_FILE.at(printable(name), what="sparse file")
    if header.type not in _REGULAR:
        return NOT_A_REGULAR_FILE.at(printable(name), what="special tar entry")
    if size > limits.member_bytes:
        return MEMBER_TOO_LARGE.at(name, limit=size_text(limits.member_bytes))
    return None


def _exactly(stream: MeteredStream, number: int) -> bytes:
    data = stream.read(number)
    if len(data) != number:
        raise _cut_short(stream)
    return data


def _cut_short(stream: MeteredStream) -> ArchiveError:
    return _damaged(stream, "it ends in the middle of a file, or without the two empty blocks that end a tar archive")


def _damaged(stream: MeteredStream, reason: str) -> ArchiveError:
    where = f"after {stream.position:,} unpacked bytes"
    return ArchiveError(DAMAGED_ARCHIVE.at(where=where, reason=reason))
