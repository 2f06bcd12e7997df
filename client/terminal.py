"""Terminal output: safe text, times and sizes."""

import unicodedata
from datetime import datetime, timedelta

SIZE_UNITS = ("bytes", "kB", "MB", "GB", "TB")


def printable(text: str) -> str:
    """Return untrusted text (names of methods, people, files) in a form that is safe to print on a terminal.

    Control characters, which could move the cursor or change colours, and characters that change the text direction are
    replaced by visible marks. Line breaks and tabs become spaces.

    >>> printable("YOLO\\x1b[2J\\nv1")
    'YOLO\ufffd[2J v1'
    """
    return "".join(
        " " if character in "\n\t" else "\ufffd" if _is_control(character) else character for character in text
    )


def _is_control(character: str) -> bool:
    turns_direction = "\u202a" <= character <= "\u202e" or "\u2066" <= character <= "\u2069"
    return turns_direction or unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp")


def display_width(text: str) -> int:
    """Return the width of a text in columns: East Asian wide characters take two, combining marks none.

    >>> display_width("Zoë"), display_width("検出")
    (3, 4)
    """
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )


def size(count: float) -> str:
    """Format a number of bytes, in decimal units.

    >>> size(999), size(1_500_000)
    ('999 bytes', '1.5 MB')
    """
    unit = 0
    while count >= 999.5 and unit < len(SIZE_UNITS) - 1:
        count /= 1000
        unit += 1
    return f"{count:.0f} {SIZE_UNITS[unit]}" if unit == 0 or count >= 99.95 else f"{count:.1f} {SIZE_UNITS[unit]}"


def duration(span: timedelta) -> str:
    """Format a duration, with less precision for longer ones.

    >>> duration(timedelta(seconds=42)), duration(timedelta(minutes=61)), duration(timedelta(days=2, hours=3))
    ('42 seconds', '1 h 1 min', '2 days 3 h')
    """
    seconds = max(0, round(span.total_seconds()))
    if seconds < 90:
        return f"{seconds} second{'' if seconds == 1 else 's'}"
    minutes = -(-seconds // 60)  # rounded up: a limit has passed when this time is over
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 24:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    days, hours = divmod(hours, 24)
    return f"{days} day{'' if days == 1 else 's'}" + (f" {hours} h" if hours else "")


def instant(moment: datetime) -> str:
    """Format a time in the local time zone, with the zone."""
    local = moment.astimezone()
    return f"{local:%Y-%m-%d %H:%M} {local.tzname() or local.strftime('%z')}"
