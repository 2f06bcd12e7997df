"""What is particular to terminals: text from others made harmless, times, sizes, and a progress bar."""

import shutil
import sys
import time
import unicodedata
from collections.abc import Callable
from datetime import datetime, timedelta
from types import TracebackType
from typing import Self, TextIO

REDRAW_SECONDS = 0.1
BAR_WIDTH = 24
SIZE_UNITS = ("bytes", "kB", "MB", "GB", "TB")


def printable(text: str) -> str:
    """Return text that others wrote (names of methods, of people, of files) as it may be shown on a terminal.

    Control characters, which could move the cursor, recolour the screen or worse, and those that turn the direction of
    all that follows become visible marks; line breaks and tabs become spaces.

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
    """Return how many columns a text takes: East Asian wide characters take two, combining marks none.

    >>> display_width("Zoë"), display_width("検出")
    (3, 4)
    """
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )


def size(count: float) -> str:
    """Return a number of bytes for people, in decimal units.

    >>> size(999), size(1_500_000)
    ('999 bytes', '1.5 MB')
    """
    unit = 0
    while count >= 999.5 and unit < len(SIZE_UNITS) - 1:
        count /= 1000
        unit += 1
    return f"{count:.0f} {SIZE_UNITS[unit]}" if unit == 0 or count >= 99.95 else f"{count:.1f} {SIZE_UNITS[unit]}"


def duration(span: timedelta) -> str:
    """Return a span of time for people, with the precision they care for.

    >>> duration(timedelta(seconds=42)), duration(timedelta(minutes=61)), duration(timedelta(days=2, hours=3))
    ('42 seconds', '1 h 1 min', '2 days 3 h')
    """
    seconds = max(0, round(span.total_seconds()))
    if seconds < 90:
        return f"{seconds} second{'' if seconds == 1 else 's'}"
    minutes = -(-seconds // 60)  # rounded up: whoever waits so long is not sent away again
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 24:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    days, hours = divmod(hours, 24)
    return f"{days} day{'' if days == 1 else 's'}" + (f" {hours} h" if hours else "")


def instant(moment: datetime) -> str:
    """Return a moment in the reader's own time zone, with the zone."""
    local = moment.astimezone()
    return f"{local:%Y-%m-%d %H:%M} {local.tzname() or local.strftime('%z')}"


class ProgressBar:
    """One line on a terminal that shows how far an upload is, and vanishes at its end; nothing elsewhere.

    Usage: `with ProgressBar("results.tar.gz", total) as bar: bar.advance(count)`.
    """

    def __init__(
        self,
        label: str,
        total: int,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._label = printable(label)
        self._total = total
        self._stream = stream or sys.stderr
        self._clock = clock
        self._shown = self._stream.isatty()
        self._done = 0
        self._started = clock()
        self._drawn = float("-inf")

    def __enter__(self) -> Self:
        self._draw()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown:
            self._stream.write("\r\x1b[K")
            self._stream.flush()

    def advance(self, count: int) -> None:
        """Say that so many more bytes are done."""
        self._done += count
        if self._clock() - self._drawn >= REDRAW_SECONDS or self._done >= self._total:
            self._draw()

    def say(self, text: str) -> None:
        """Show a text in place of the bar."""
        self._write(text)

    def _draw(self) -> None:
        if self._shown:
            self._drawn = self._clock()
            self._write(self.line(unicode=(self._stream.encoding or "").lower().replace("-", "") == "utf8"))

    def _write(self, line: str) -> None:
        if self._shown:
            columns = shutil.get_terminal_size().columns
            self._stream.write(f"\r{line[: columns - 1]}\x1b[K")
            self._stream.flush()

    def line(self, *, unicode: bool) -> str:
        """Return the bar as text: label, bar, per cent, sizes, speed and the time left."""
        fraction = min(1.0, self._done / self._total) if self._total else 1.0
        full = int(fraction * BAR_WIDTH)
        drawn = ("█" if unicode else "#") * full + ("░" if unicode else ".") * (BAR_WIDTH - full)
        line = f"{self._label}  {drawn} {fraction:4.0%}  {size(self._done)} of {size(self._total)}"
        seconds = self._clock() - self._started
        if seconds >= 1 and 0 < self._done < self._total:
            speed = self._done / seconds
            left = timedelta(seconds=(self._total - self._done) / speed)
            line += f"  {size(speed)}/s  {duration(left)} left"
        return line
