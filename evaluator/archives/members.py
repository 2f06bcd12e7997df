"""The members of an archive or directory."""

import errno
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from vocboard.evaluator.archives.directory import directory_members
from vocboard.evaluator.archives.limits import ArchiveError, ArchiveLimits
from vocboard.evaluator.archives.member import Member
from vocboard.evaluator.byte_sizes import size_text
from vocboard.evaluator.file_type import describe
from vocboard.evaluator.problems import Problem, Severity, counted, quoted
from vocboard.evaluator.problems.archives import BACKSLASHES_IN_NAMES, IGNORED_FILES, NOT_AN_ARCHIVE, TOO_MUCH_IGNORED
from vocboard.evaluator.problems.files import DUPLICATE_FILE

_ZIP = (b"PK\x03\x04", b"PK\x05\x06")


def members(
    source: Path | BinaryIO, limits: ArchiveLimits, report: Callable[[Problem], None] | None = None
) -> Iterator[Member]:
    """Yield the regular files of a tar archive (plain, gz, xz, bz2), a zip archive or a directory.

    The type is detected by content, not by name. Archives keep their order; directories are sorted by name.

    Args:
        source: the archive or directory, or an archive that is open at its start.
        limits: limits on number and size of its members.
        report: called with a problem for everything that is skipped (links, unsafe or repeated names, files that are
            too large, and, as a warning, files added by operating systems). Without it, the first error is raised.

    Raises:
        ArchiveError: this is not an archive, it is damaged, or it exceeds its limits.
        OSError: `source` itself cannot be read.
    """
    reported = report or _raise_errors
    if isinstance(source, Path):
        found = directory_members(source, limits, reported) if source.is_dir() else _opened(source, limits, reported)
    else:
        found = _packed_members(source, limits, reported)
    return _without_additions_and_repetitions(found, limits, reported)


def _opened(path: Path, limits: ArchiveLimits, report: Callable[[Problem], None]) -> Iterator[Member]:
    with path.open("rb") as file:
        if not file.seekable():
            raise OSError(errno.ESPIPE, "this is a pipe; write the archive to a file, and name it", str(path))
        yield from _packed_members(file, limits, report)


def _packed_members(file: BinaryIO, limits: ArchiveLimits, report: Callable[[Problem], None]) -> Iterator[Member]:
    """Yield the regular files of an archive, whose type its first bytes say."""
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


def _raise_errors(problem: Problem) -> None:
    if problem.severity is Severity.ERROR:
        raise ArchiveError(problem)


def _without_additions_and_repetitions(
    source: Iterator[Member], limits: ArchiveLimits, report: Callable[[Problem], None]
) -> Iterator[Member]:
    seen: set[str] = set()
    additions: list[str] = []
    added_bytes = 0
    from_windows: list[str] = []
    for member in source:
        if member.had_backslashes:
            from_windows.append(member.name)
        if _added_by_operating_system(member.name):
            additions.append(member.name)
            added_bytes += member.size
            if len(additions) > limits.ignored_members or added_bytes > limits.ignored_bytes:
                size = size_text(limits.ignored_bytes)
                raise ArchiveError(TOO_MUCH_IGNORED.at(member.name, count=limits.ignored_members, size=size))
        elif member.name in seen:
            report(
                DUPLICATE_FILE.at(member.name, what="One name", first=quoted(member.name), second="the same name again")
            )
        else:
            seen.add(member.name)
            yield member
    if from_windows:
        has = "has" if len(from_windows) == 1 else "have"
        report(BACKSLASHES_IN_NAMES.at(from_windows[0], count=counted(len(from_windows), "file"), has=has))
    if additions:
        count = counted(len(additions), "addition")
        report(IGNORED_FILES.at(additions[0], count=count, was="was" if len(additions) == 1 else "were"))


def _added_by_operating_system(name: str) -> bool:
    parts = name.split("/")
    return "__MACOSX" in parts or parts[-1].startswith("._") or parts[-1] in {".DS_Store", "Thumbs.db", "desktop.ini"}
