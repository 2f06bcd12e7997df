"""Names of members: made plain, or refused."""

import re
from collections.abc import Callable

from vocboard.evaluator.archives.limits import ArchiveLimits
from vocboard.evaluator.problems import Problem, quoted
from vocboard.evaluator.problems.archives import UNSAFE_NAME

_DRIVE = re.compile(r"[A-Za-z]:")
_NOT_UTF8 = re.compile("[\ud800-\udfff]")


def plain_name(raw: str, limits: ArchiveLimits, report: Callable[[Problem], None]) -> str | None:
    """Return the name without `.` and empty parts; None, and a problem reported, if it is not to be trusted.

    A backslash divides parts like a slash: archives made on Windows have such names, and there it would lead astray.
    An empty text is the archive's root.

    Args:
        raw: as it stands in the archive; bytes that are not UTF-8 escaped by surrogates.
        limits: limits of the archive.
        report: takes the problem.
    """
    why = _why_unsafe(raw, limits)
    if why is not None:
        report(UNSAFE_NAME.at(printable(raw), why=why))
        return None
    return "/".join(part for part in with_slashes(raw).split("/") if part not in {"", "."})


def with_slashes(raw: str) -> str:
    """A name with its parts divided by slashes."""
    return raw.replace("\\", "/")


def printable(raw: str) -> str:
    """A name as it may stand in a report: shortened, and everything unprintable escaped."""
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
