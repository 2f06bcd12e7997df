"""What an archive may unpack to, and the meter that is read while it does."""

from collections.abc import Callable
from dataclasses import dataclass

from vocboard.evaluator.problems import Problem
from vocboard.evaluator.problems.archives import (
    ARCHIVE_TOO_LARGE,
    COMPRESSION_RATIO,
    TOO_MANY_MEMBERS,
    UNREAD_CONTENT_TOO_LARGE,
)

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB


@dataclass(frozen=True, slots=True)
class ArchiveLimits:
    """Bounds on one archive.

    Attributes:
        members: files and directories.
        member_bytes: of one file, unpacked.
        total_bytes: of everything that decompression yields, padding and skipped files included.
        ratio: unpacked bytes to packed ones.
        ratio_from_bytes: unpacked bytes from which the ratio counts; identical label maps, or a file of equal lines,
            compress a thousandfold and are harmless as long as they are few.
        name_characters: of one member's name.
        ignored_members: files that operating systems add, which are passed over.
        ignored_bytes: of these files, unpacked, all together.
        unread_bytes: of everything in a tar archive that is unpacked only to get past it, all together.
    """

    members: int = 100_000
    member_bytes: int = 512 * MIB
    total_bytes: int = 4 * GIB
    ratio: int = 200
    ratio_from_bytes: int = 64 * MIB
    name_characters: int = 1_000
    ignored_members: int = 10_000  # a macOS archive has one for each file, but only few directories of results
    ignored_bytes: int = 16 * MIB
    unread_bytes: int = 256 * MIB


UPLOAD_LIMITS = ArchiveLimits()

# A development kit tree comes from an organiser and holds the images of several years.
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
    """Reading cannot go on; `problem` says why, in the words for the one whose archive it is."""

    def __init__(self, problem: Problem):
        super().__init__(problem.message)
        self.problem = problem


class Meter:
    """Counts what an archive unpacks to, and stops it at the limits."""

    def __init__(self, limits: ArchiveLimits, packed_bytes: Callable[[], int]):
        self.limits = limits
        self._packed_bytes = packed_bytes
        self._members = 0
        self._bytes = 0
        self._unread_bytes = 0

    def count_member(self) -> None:
        """Count one more file or directory.

        Raises:
            ArchiveError: it is one too many.
        """
        self._members += 1
        if self._members > self.limits.members:
            raise ArchiveError(TOO_MANY_MEMBERS.at(limit=self.limits.members))

    def count_unread_bytes(self, number: int) -> None:
        """Count bytes that are about to be passed over; unpacking them is counted by itself.

        Raises:
            ArchiveError: they are too many.
        """
        self._unread_bytes += number
        if self._unread_bytes > self.limits.unread_bytes:
            raise ArchiveError(UNREAD_CONTENT_TOO_LARGE.at(limit=size_text(self.limits.unread_bytes)))

    def count_bytes(self, number: int) -> None:
        """Count unpacked bytes.

        Raises:
            ArchiveError: they are too many, or too many for the packed bytes they came from.
        """
        self._bytes += number
        if self._bytes > self.limits.total_bytes:
            raise ArchiveError(ARCHIVE_TOO_LARGE.at(limit=size_text(self.limits.total_bytes)))
        counts = self._bytes > self.limits.ratio_from_bytes
        if counts and self._bytes > self.limits.ratio * self._packed_bytes():
            raise ArchiveError(COMPRESSION_RATIO.at(ratio=self.limits.ratio))


def size_text(number: int) -> str:
    """Bytes in the largest unit that leaves a whole number.

    >>> size_text(512 * MIB), size_text(1000)
    ('512 MiB', '1000 bytes')
    """
    for unit, name in ((GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")):
        if number >= unit and number % unit == 0:
            return f"{number // unit} {name}"
    return f"{number} bytes"
