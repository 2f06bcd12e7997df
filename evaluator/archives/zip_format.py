"""Zip archives."""

import os
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from typing import BinaryIO

from vocboard.evaluator.archives.limits import ArchiveError, ArchiveLimits, Meter
from vocboard.evaluator.archives.member import Member
from vocboard.evaluator.archives.naming import plain_name, printable
from vocboard.evaluator.byte_sizes import size_text
from vocboard.evaluator.problems import Problem, quoted
from vocboard.evaluator.problems.archives import (
    DAMAGED_ARCHIVE,
    ENCRYPTED_MEMBER,
    MEMBER_TOO_LARGE,
    NOT_A_REGULAR_FILE,
    TOO_MANY_MEMBERS,
    UNSUPPORTED_COMPRESSION,
)

_ENCRYPTED = 0x1
_READ_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}  # bzip2 and lzma can request unbounded memory

_END_RECORD = b"PK\x05\x06"
_END_RECORD_BYTES = 22
_FILE_HEADER_BYTES = 30  # without its name and extra fields
_END_RECORD_SEARCH_BYTES = _END_RECORD_BYTES + 65_535  # a comment may follow it
_DIRECTORY_BYTES_PER_MEMBER = 512  # 46 fixed, the rest name and extra fields

_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, ValueError)


def zip_members(file: BinaryIO, limits: ArchiveLimits, report: Callable[[Problem], None]) -> Iterator[Member]:
    """Yield the regular files of a zip archive, in the order of its directory.

    Raises:
        ArchiveError: as for `members`.
    """
    packed = file.seek(0, os.SEEK_END)
    meter = Meter(limits, packed_bytes=lambda: packed)
    _refuse_huge_directory(file, packed, limits)
    try:
        archive = zipfile.ZipFile(file)
    except _DAMAGE as error:
        raise _damaged("", "its directory at the end is missing or not valid") from error
    with archive:
        _refuse_shared_bytes(archive)
        for info in archive.infolist():
            meter.count_member()
            name = plain_name(info.filename, limits, report)
            if not name or info.filename.endswith(("/", "\\")):
                continue
            refused = _refusal(info, name, limits)
            if refused is not None:
                report(refused)
            else:
                yield Member(name, info.file_size, _reader(archive, info, name, meter), "\\" in info.filename)


def _refuse_huge_directory(file: BinaryIO, packed: int, limits: ArchiveLimits) -> None:
    """Check the directory's size before `zipfile` reads it into memory."""
    file.seek(max(0, packed - _END_RECORD_SEARCH_BYTES))
    tail = file.read()
    place = tail.rfind(_END_RECORD)
    if place < 0 or len(tail) - place < _END_RECORD_BYTES:
        raise _damaged("", "its directory at the end is missing")
    size = int.from_bytes(tail[place + 12 : place + 16], "little")
    if size == 0xFFFFFFFF:
        # Zip64 stores the size elsewhere; the directory cannot be larger than the archive.
        size = packed
    if size > limits.members * _DIRECTORY_BYTES_PER_MEMBER:
        raise ArchiveError(TOO_MANY_MEMBERS.at(limit=limits.members))


def _refuse_shared_bytes(archive: zipfile.ZipFile) -> None:
    """Reject members that share bytes, which would hide the true ratio; newer Python versions also check this."""
    ends_at = archive.start_dir
    for info in sorted(archive.infolist(), key=lambda info: info.header_offset, reverse=True):
        if info.header_offset + _FILE_HEADER_BYTES + info.compress_size > ends_at:
            raise _damaged(f"at {quoted(info.filename)}", "the file's data reach into what follows them")
        ends_at = info.header_offset


def _refusal(info: zipfile.ZipInfo, name: str, limits: ArchiveLimits) -> Problem | None:
    kind = stat.S_IFMT(info.external_attr >> 16)
    if stat.S_ISLNK(kind):
        return NOT_A_REGULAR_FILE.at(printable(name), what="symbolic link")
    if kind not in {0, stat.S_IFREG}:
        return NOT_A_REGULAR_FILE.at(printable(name), what="device")
    if info.flag_bits & _ENCRYPTED:
        return ENCRYPTED_MEMBER.at(name)
    if info.compress_type not in _READ_METHODS:
        return UNSUPPORTED_COMPRESSION.at(name, method=info.compress_type)
    if info.file_size > limits.member_bytes:
        return MEMBER_TOO_LARGE.at(name, limit=size_text(limits.member_bytes))
    return None


def _reader(archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str, meter: Meter) -> Callable[[int], bytes]:
    def read(number: int) -> bytes:
        where = f"at {quoted(name)}"
        meter.count_bytes(number)
        try:
            with archive.open(info) as file:
                data = file.read(number)
                # Reading one more byte makes zipfile verify the length and the checksum.
                if number == info.file_size and file.read(1):
                    raise _damaged(where, "the file is longer than the archive's directory says")
        except _DAMAGE as error:
            raise _damaged(where, "the file's data do not agree with the archive's directory") from error
        if len(data) != number:
            raise _damaged(where, "the file is shorter than the archive's directory says")
        return data

    return read


def _damaged(where: str, reason: str) -> ArchiveError:
    return ArchiveError(DAMAGED_ARCHIVE.at(where=where or "at all", reason=reason))
