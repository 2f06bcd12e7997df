"""Names of members: made plain, or refused."""

import re
from collections.abc import Callable

from evaluator.archives.limits import ArchiveLimits
from evaluator.catalogue.archives import UNSAFE_NAME
from evaluator.problems import Problem, quoted

_DRIVE = re.compile(r"[A-Za-z]:")


def plain_name(raw: str, limits: ArchiveLimits, report: Callable[[Problem], None]) -> str | None:
    """Return the name without `.` and empty parts; None, and a problem reported, if it is not to be trusted.

    An empty text is the archive's root.
    """
    why = _why_unsafe(raw, limits)
    if why is not None:
        report(UNSAFE_NAME.at(printable(raw), why=why))
        return None
    return "/".join(part for part in raw.split("/") if part not in {"", "."})


def printable(raw: str) -> str:
    """A name as it may stand in a report: shortened, and everything unprintable escaped."""
    shown = raw if len(raw) <= 200 else raw[:199] + "…"
    return shown if shown.isprintable() else shown.encode("unicode_escape").decode("ascii")


def _why_unsafe(raw: str, limits: ArchiveLimits) -> str | None:
    if len(raw) > limits.name_characters:
        return f"has {len(raw):,} characters, more than {limits.name_characters:,}"
    if not raw.isprintable():
        return "holds unprintable characters"
    if raw.startswith("/") or _DRIVE.match(raw):
        return f"is absolute: {quoted(raw)}"
    if ".." in raw.split("/"):
        return f"leads upwards: {quoted(raw)}"
    return None
