"""Errors of edition files, collected with their lines."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True)
class Mistake:
    """One error.

    Attributes:
        line: 1-based line of the key, or of the table in which it is missing; None for the whole file.
    """

    line: int | None
    message: str


class EditionFileError(ValueError):
    """The edition file is invalid; the message has one line per error: file, line, place, what was expected.

    Attributes:
        mistakes: the errors, in the order of the file.
    """

    def __init__(self, file: str, mistakes: Sequence[Mistake]) -> None:
        self.mistakes = tuple(sorted(mistakes, key=lambda mistake: mistake.line or 0))
        super().__init__("\n".join(self._lines(file)))

    def _lines(self, file: str) -> Iterator[str]:
        for mistake in self.mistakes:
            place = file if mistake.line is None else f"{file}:{mistake.line}"
            yield f"{place}: {mistake.message}"


class Mistakes:
    """Collects the errors of one file.

    Args:
        lines: returns the line of each place, for example `tasks.detection.file` or `competitions[2]`; only called at
            the first error, because it is slower than reading the file.
    """

    def __init__(self, file: str, lines: Callable[[], Mapping[str, int]]) -> None:
        self._file, self._lines = file, cache(lines)
        self._noted: list[Mistake] = []

    def note(self, place: str, message: str) -> None:
        """Add an error; if the place is not in the file, use the line of the enclosing table."""
        lines, around = self._lines(), place
        while around and not {around, f"{around}[1]"} & lines.keys():
            around = around.rpartition(".")[0]
        line = lines.get(around) or lines.get(f"{around}[1]")
        self._noted.append(Mistake(line, message))

    def raise_if_any(self) -> None:
        """Raise `EditionFileError` if there are errors."""
        if self._noted:
            raise EditionFileError(self._file, self._noted)
