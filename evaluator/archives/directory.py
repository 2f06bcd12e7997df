"""Reads a directory like an archive."""

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from vocboard.evaluator.archives.limits import ArchiveLimits, Meter
from vocboard.evaluator.archives.member import Member
from vocboard.evaluator.archives.naming import plain_name, printable
from vocboard.evaluator.byte_sizes import size_text
from vocboard.evaluator.problems import Problem
from vocboard.evaluator.problems.archives import MEMBER_TOO_LARGE, NOT_A_REGULAR_FILE

_KINDS = (
    (stat.S_ISLNK, "symbolic link"),
    (stat.S_ISFIFO, "named pipe"),
    (stat.S_ISSOCK, "socket"),
)


def directory_members(root: Path, limits: ArchiveLimits, report: Callable[[Problem], None]) -> Iterator[Member]:
    """Yield the regular files below `root`, sorted by name; links are reported, not followed."""
    meter = Meter(limits, packed_bytes=lambda: limits.total_bytes)  # nothing is compressed, so there is no ratio
    above = len(os.path.join(root, ""))
    for entry in _walk(root):
        meter.count_member()
        raw = entry.path[above:]
        name = plain_name(raw, limits, report)
        if name is None or entry.is_dir(follow_symlinks=False):
            continue
        status = entry.stat(follow_symlinks=False)
        if not stat.S_ISREG(status.st_mode):
            what = next((text for test, text in _KINDS if test(status.st_mode)), "device")
            report(NOT_A_REGULAR_FILE.at(printable(name), what=what))
        elif status.st_size > limits.member_bytes:
            report(MEMBER_TOO_LARGE.at(name, limit=size_text(limits.member_bytes)))
        else:
            yield Member(name, status.st_size, _reader(entry.path, meter), os.sep != "\\" and "\\" in raw)


def _reader(path: str, meter: Meter) -> Callable[[int], bytes]:
    def read(number: int) -> bytes:
        meter.count_bytes(number)
        with open(path, "rb", buffering=0) as file:  # unbuffered: files are small, or read in one call
            return file.read(number)

    return read


def _walk(directory: Path | str) -> Iterator["os.DirEntry[str]"]:
    with os.scandir(directory) as entries:
        ordered = sorted(entries, key=lambda entry: entry.name)
    for entry in ordered:
        yield entry
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(entry.path)
