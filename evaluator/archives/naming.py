"""Normalises or rejects names of members."""

import re
from collections.abc import Callable

from vocboard.evaluator.archives.limits import ArchiveLimits
from vocboard.evaluator.problems import Problem, quoted
from vocboard.evaluator.problems.archives import UNSAFE_NAME

_DRIVE = re.compile(r"[A-Za-z]:")
_NOT_UTF8 = re.compile("[\ud800-\udfff]")


def plain_name(raw: str, limits: ArchiveLimits, report: Callable[[Problem], None]) -> str | None:
    """Return the name without `.` and empty parts; report a problem and return None if it is unsafe.

    Backslashes separate parts like slashes, because archives from Windows contain such names. The empty string is the
    archive's root.

    Args:
        raw: name in the archive; bytes that are not UTF-8 are escaped by surrogates.
        limits: limits of the archive.
        report: called with the problem.
    """
    why = _why_unsafe(raw, limits)
    if why is not None:
        report(UNSAFE_NAME.at(printable(raw), why=why))
        return None
    return "/".join(part for part in with_slashes(raw).split("/") if part not in {"", "."})


def with_slashes(raw: str) -> str:
    """Return a name with its parts separated by slashes."""
    return raw.replace("\\", "/")


def printable(raw: str) -> str:
    """Return a name for a report: shortened, with unprintable characters escaped."""
    shown = raw if len(raw) <= 200 else raw[:199] + "…"
    return shown if shown.isprintable() else shown.encode("unicode_escape").decode("ascii")


def _why_unsafe(raw: str, limits: ArchiveLimits) -> str | None:
    if len(raw) > limits.name_characters:
        return f"has {len(raw):,} characters, more than {limits.name_characters:,}"
    if _NOT_UTF8.search(raw):
        return f"is not UTF-8: {quoted(raw)}"
    if not raw.isprintable():
        return "holds unprintable characters"
    if with_slashes(raw).startswith("/") or _DRIVE.match(raw):
        return f"is absolute: {quoted(raw)}"
    if ".." in with_slashes(raw).split("/"):
        return f"leads upwards: {quoted(raw)}"
    return None
