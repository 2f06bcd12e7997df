"""Detects the type of an archive by its first bytes."""

from collections.abc import Callable, Iterator
from typing import BinaryIO

from vocboard.evaluator.archives.limits import ArchiveError, ArchiveLimits
from vocboard.evaluator.archives.member import Member
from vocboard.evaluator.file_type import describe
from vocboard.evaluator.problems import Problem
from vocboard.evaluator.problems.archives import NOT_AN_ARCHIVE

_ZIP = (b"PK\x03\x04", b"PK\x05\x06")


def packed_members(file: BinaryIO, limits: ArchiveLimits, report: Callable[[Problem], None]) -> Iterator[Member]:
    """Yield the regular files of the archive in a file.

    Raises:
        ArchiveError: as for `members`.
    """
    head = file.read(512)
    file.seek(0)
    if not head:
        raise ArchiveError(NOT_AN_ARCHIVE.at(looks=describe(head)))
    # Imported when they are needed: a short command would spend some of its time on loading both.
    if head.startswith(_ZIP):
        from vocboard.evaluator.archives.zip_format import zip_members  # noqa: PLC0415

        return zip_members(file, limits, report)
    from vocboard.evaluator.archives.tar_format import tar_members  # noqa: PLC0415

    return tar_members(file, head, limits, report)
