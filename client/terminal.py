"""Terminal output: safe text, times, sizes, and a progress bar."""

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


class ProgressBar:
    """A progress bar for an upload, removed at its end. Prints nothing if the stream is not a terminal.

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
        self._done = self._before = 0
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
        """Add a number of bytes to those done."""
        self._done += count
        if self._clock() - self._drawn >= REDRAW_SECONDS or self._done >= self._total:
            self._draw()

    def move_to(self, done: int) -> None:
        """Set the number of bytes done: more than before, or fewer where something has to be sent again."""
        self._done = done
        if self._clock() - self._drawn >= REDRAW_SECONDS or done >= self._total:
            self._draw()

    def continue_from(self, done: int) -> None:
        """Set the number of bytes that were done before this began, which say nothing about its speed."""
        self._before = self._done = done
        self._draw()

    def note(self, text: str) -> None:
        """Print a line above the bar; without a terminal, just the line."""
        self._stream.write(f"\r\x1b[K{text}\n" if self._shown else f"{text}\n")
        self._stream.flush()
        self._draw()

    def say(self, text: str) -> None:
        """Show a text instead of the bar."""
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
        """Return the bar as text: label, bar, percentage, sizes, speed and time left."""
        fraction = min(1.0, self._done / self._total) if self._total else 1.0
        full = int(fraction * BAR_WIDTH)
        drawn = ("█" if unicode else "#") * full + ("░" if unicode else ".") * (BAR_WIDTH - full)
        line = f"{self._label}  {drawn} {fraction:4.0%}  {size(self._done)} of {size(self._total)}"
        seconds = self._clock() - self._started
        if seconds >= 1 and self._before < self._done < self._total:
            speed = (self._done - self._before) / seconds
            left = timedelta(seconds=(self._total - self._done) / speed)
            line += f"  {size(speed)}/s  {duration(left)} left"
        return line
