"""What is wrong with an edition file: all of it at once, each mistake with its line."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True)
class Mistake:
    """One mistake.

    Attributes:
        line: from 1 on: of the key, or of the table in which it is missing; None for the file as a whole.
    """

    line: int | None
    message: str


class EditionFileError(ValueError):
    """An edition file is malformed; the message has one line for each mistake: file, line, place, what was expected.

    Attributes:
        mistakes: in the order of the file.
    """

    def __init__(self, file: str, mistakes: Sequence[Mistake]) -> None:
        self.mistakes = tuple(sorted(mistakes, key=lambda mistake: mistake.line or 0))
        super().__init__("\n".join(self._lines(file)))

    def _lines(self, file: str) -> Iterator[str]:
        for mistake in self.mistakes:
            place = file if mistake.line is None else f"{file}:{mistake.line}"
            yield f"{place}: {mistake.message}"


class Mistakes:
    """Collects what is wrong with one file.

    Args:
        lines: returns the line of each place, such as `tasks.detection.file` or `competitions[2]`; asked for at the
            first mistake only, because finding them takes longer than reading the file.
    """

    def __init__(self, file: str, lines: Callable[[], Mapping[str, int]]) -> None:
        self._file, self._lines = file, cache(lines)
        self._noted: list[Mistake] = []

    def note(self, place: str, message: str) -> None:
        """Add a mistake; one at a place that the file does not have is told at the table around it."""
        lines, around = self._lines(), place
        while around and not {around, f"{around}[1]"} & lines.keys():
            around = around.rpartition(".")[0]
        line = lines.get(around) or lines.get(f"{around}[1]")
        self._noted.append(Mistake(line, message))

    def raise_if_any(self) -> None:
        """Raise `EditionFileError` with all mistakes noted so far."""
        if self._noted:
            raise EditionFileError(self._file, self._noted)
