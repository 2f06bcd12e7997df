"""A progress line, shown on terminals when a command takes longer than a moment."""

import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import Self, TextIO, TypeVar

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
        if self._clock() >= self._next and self._stream.isatty():
            self._next = self._clock() + REDRAW_SECONDS
            self._drawn = True
            columns = shutil.get_terminal_size().columns
            self._stream.write(f"\r{self.line()[: columns - 1]}\x1b[K")
            self._stream.flush()

    def over(self, items: Iterable[Item]) -> Iterator[Item]:
        """Yield the items, and count each after it has been processed."""
        for item in items:
            yield item
            self.advance()

    def line(self) -> str:
        """Return the bar as text."""
        if not self._total:
            return f"{self._done:,} {self._noun}"
        fraction = min(1.0, self._done / self._total)
        full = int(fraction * BAR_WIDTH)
        return f"{'#' * full}{'.' * (BAR_WIDTH - full)} {fraction:4.0%}  {self._done:,} of {self._total:,} {self._noun}"
