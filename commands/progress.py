"""Progress lines: of a command that takes longer than a moment, and of an upload. Only terminals show them."""

import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from types import TracebackType
from typing import Self, TextIO, TypeVar

from vocboard.client.terminal import duration, printable, size

SHOWN_AFTER_SECONDS = 0.5
REDRAW_SECONDS = 0.1
BAR_WIDTH = 24

Item = TypeVar("Item")


class Progress:
    """Counts processed items. Usage: `with Progress("images", total) as progress: progress.advance(1)`."""

    def __init__(
        self,
        noun: str,
        total: int | None = None,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Take the name of the items and their number; None if it is unknown."""
        self._noun, self._total, self._clock = noun, total, clock
        self._stream = stream or sys.stderr
        self._done = 0
        self._next = clock() + SHOWN_AFTER_SECONDS
        self._drawn = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.clear()

    def clear(self) -> None:
        """Remove the line, so that something else can be printed."""
        if self._drawn:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
            self._drawn = False

    def stage(self, noun: str, total: int | None = None) -> None:
        """Begin to count something else."""
        self._noun, self._total, self._done = noun, total, 0
        self.advance(0)

    def advance(self, count: int = 1) -> None:
        """Say that so many more are done; 0 only shows that work goes on."""
        self._done += count
        if self._clock() >= self._next:
            self.show(self.line())

    def over(self, items: Iterable[Item]) -> Iterator[Item]:
        """Yield the items, and count each after it has been processed."""
        for item in items:
            yield item
            self.advance()

    def line(self) -> str:
        """Return the bar as text."""
        if not self._total:
            return f"{self._done:,} {self._noun}"
        return f"{self.bar()}  {self._done:,} of {self._total:,} {self._noun}"

    def bar(self) -> str:
        """Return the bar alone, and how many per cent are done."""
        fraction = min(1.0, self._done / self._total) if self._total else 1.0
        full = int(fraction * BAR_WIDTH)
        done, left = "█░" if (self._stream.encoding or "").lower().replace("-", "") == "utf8" else "#."
        return f"{done * full}{left * (BAR_WIDTH - full)} {fraction:4.0%}"

    def show(self, line: str) -> None:
        """Show a text in place of what is shown."""
        if self._stream.isatty():
            self._next = self._clock() + REDRAW_SECONDS
            self._drawn = True
            columns = shutil.get_terminal_size().columns
            self._stream.write(f"\r{line[: columns - 1]}\x1b[K")
            self._stream.flush()


class ProgressBar(Progress):
    """Shows how far an upload is, from its beginning on.

    Usage: `with ProgressBar("results.tar.gz", total) as bar: bar.move_to(done)`.
    """

    def __init__(
        self,
        label: str,
        total: int,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(printable(label), total, stream, clock)
        self._size = total
        self._before = 0
        self._started = clock()

    def __enter__(self) -> Self:
        self.show(self.line())
        return self

    def move_to(self, done: int) -> None:
        """Set the number of bytes done: more than before, or fewer where something has to be sent again."""
        self._done = done
        if self._clock() >= self._next or done >= self._size:
            self.show(self.line())

    def continue_from(self, done: int) -> None:
        """Set the number of bytes that were done before this began, which say nothing about its speed."""
        self._before = self._done = done
        self.show(self.line())

    def note(self, text: str) -> None:
        """Print a line above the bar; without a terminal, just the line."""
        self.clear()
        print(text, file=self._stream, flush=True)
        self.show(self.line())

    def line(self) -> str:
        """Return the bar as text: label, bar, percentage, sizes, speed and time left."""
        line = f"{self._noun}  {self.bar()}  {size(self._done)} of {size(self._size)}"
        seconds = self._clock() - self._started
        if seconds >= 1 and self._before < self._done < self._size:
            speed = (self._done - self._before) / seconds
            left = timedelta(seconds=(self._size - self._done) / speed)
            line += f"  {size(speed)}/s  {duration(left)} left"
        return line
