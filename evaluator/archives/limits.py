"""Limits of archives, and counters that enforce them while an archive is read."""

from collections.abc import Callable
from dataclasses import dataclass

from vocboard.evaluator.byte_sizes import GIB, MIB, size_text
from vocboard.evaluator.problems import Problem
from vocboard.evaluator.problems.archives import (
    ARCHIVE_TOO_LARGE,
    COMPRESSION_RATIO,
    TOO_MANY_MEMBERS,
    UNREAD_CONTENT_TOO_LARGE,
)


@dataclass(frozen=True, slots=True)
class ArchiveLimits:
    """Limits of an archive.

    Attributes:
        members: number of files and directories.
        member_bytes: size of one file, unpacked.
        total_bytes: total decompressed bytes, including padding and skipped files.
        ratio: ratio of unpacked to packed bytes.
        ratio_from_bytes: unpacked bytes from which the ratio is checked. A few identical label maps or equal lines
            compress a thousandfold and are harmless.
        name_characters: length of a member's name.
        ignored_members: number of files added by operating systems, which are skipped.
        ignored_bytes: total size of these files, unpacked.
        unread_bytes: total size of everything in a tar archive that is only unpacked to skip it.
    """

    members: int = 100_000
    member_bytes: int = 512 * MIB
    total_bytes: int = 4 * GIB
    ratio: int = 200
    ratio_from_bytes: int = 64 * MIB
    name_characters: int = 1_000
    ignored_members: int = 10_000  # macOS adds one per file
    ignored_bytes: int = 16 * MIB
    unread_bytes: int = 256 * MIB


UPLOAD_LIMITS = ArchiveLimits()

# Development kit trees come from organisers and contain the images of several years.
TREE_LIMITS = ArchiveLimits(
    members=1_000_000,
    member_bytes=2 * GIB,
    total_bytes=64 * GIB,
    ratio=2_000,
    ignored_members=1_000_000,
    ignored_bytes=4 * GIB,
    unread_bytes=64 * GIB,  # images
)


class ArchiveError(Exception):
    """The archive cannot be read; `problem` says why."""

    def __init__(self, problem: Problem):
        super().__init__(problem.message)
        self.problem = problem


class Meter:
    """Counts unpacked data, and enforces the limits."""

    def __init__(self, limits: ArchiveLimits, packed_bytes: Callable[[], int]):
        self.limits = limits
        self._packed_bytes = packed_bytes
        self._members = 0
        self._bytes = 0
        self._unread_bytes = 0

    def count_member(self) -> None:
        """Count one more file or directory.

        Raises:
            ArchiveError: there are too many.
        """
        self._members += 1
        if self._members > self.limits.members:
            raise ArchiveError(TOO_MANY_MEMBERS.at(limit=self.limits.members))

    def count_unread_bytes(self, number: int) -> None:
        """Count bytes that will be skipped; unpacking them is counted separately.

        Raises:
            ArchiveError: there are too many.
        """
        self._unread_bytes += number
        if self._unread_bytes > self.limits.unread_bytes:
            raise ArchiveError(UNREAD_CONTENT_TOO_LARGE.at(limit=size_text(self.limits.unread_bytes)))

    def count_bytes(self, number: int) -> None:
        """Count unpacked bytes.

        Raises:
            ArchiveError: there are too many, in total or relative to the packed bytes.
        """
        self._bytes += number
        if self._bytes > self.limits.total_bytes:
            raise ArchiveError(ARCHIVE_TOO_LARGE.at(limit=size_text(self.limits.total_bytes)))
        counts = self._bytes > self.limits.ratio_from_bytes
        if counts and self._bytes > self.limits.ratio * self._packed_bytes():
            raise ArchiveError(COMPRESSION_RATIO.at(ratio=self.limits.ratio))
