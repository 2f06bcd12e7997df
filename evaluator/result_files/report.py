"""The problems of one file, at most so many of them listed and the rest counted."""

import math
from collections import Counter

from vocboard.evaluator.problems import Kind, Problem, Severity, counted
from vocboard.evaluator.problems.files import MORE_PROBLEMS, MORE_WARNINGS, READING_STOPPED

LISTED = 20
MOST_PROBLEMS = 20_000  # of one file, before its reading is stopped


class FileReport:
    """Collects what is wrong with one file (or one directory of label maps).

    Attributes:
        file: the member's name, the default of `add`; None for what is about the archive itself.
        habits: what the file shares with all that its program writes, such as line ends, for one warning an upload.
    """

    def __init__(self, file: str | None):
        self.file = file
        self.habits: set[Kind] = set()
        self._listed: list[Problem] = []
        self._rest: dict[Severity, Counter[str]] = {severity: Counter() for severity in Severity}
        self._errors = 0
        self._stopped_at: int | None = None

    @property
    def errors(self) -> int:
        """How many problems so far refuse the upload."""
        return self._errors

    @property
    def has_errors(self) -> bool:
        """Whether anything so far refuses the upload."""
        return self._errors > 0

    @property
    def has_enough(self) -> bool:
        """Whether there are so many problems that reading on would only take time."""
        return self._errors > MOST_PROBLEMS

    def stop(self, line: int) -> None:
        """Note that nothing after a line has been looked at."""
        self._stopped_at = line

    def add(self, kind: Kind, line: int | None = None, *, file: str | None = None, **found: object) -> None:
        """Note a problem.

        Values in `found` that are costly to work out may be functions: they are called only if the problem is listed.
        """
        if len(self._listed) < LISTED:
            found = {name: value() if callable(value) else value for name, value in found.items()}
            self.note(kind.at(file or self.file, line, **found))
        else:
            self._count(kind.code, kind.severity)

    def note(self, problem: Problem) -> None:
        """Note a problem that has its wording already."""
        if len(self._listed) < LISTED:
            self._errors += problem.severity is Severity.ERROR
            self._listed.append(problem)
        else:
            self._count(problem.code, problem.severity)

    def problems(self) -> list[Problem]:
        """Those listed, by line and then those of the whole file, and what counts the rest."""
        listed = sorted(self._listed, key=lambda problem: math.inf if problem.line is None else problem.line)
        for severity, kind in ((Severity.ERROR, MORE_PROBLEMS), (Severity.WARNING, MORE_WARNINGS)):
            rest = self._rest[severity]
            if rest:
                counts = ", ".join(f"{number:,} {code}" for code, number in sorted(rest.items()))
                noun = "more problem" if severity is Severity.ERROR else "more warning"
                listed.append(kind.at(self.file, count=_are(counted(rest.total(), noun)), counts=counts))
        if self._stopped_at is not None:
            listed.append(READING_STOPPED.at(self.file, self._stopped_at, last=self._stopped_at))
        return listed

    def _count(self, code: str, severity: Severity) -> None:
        self._errors += severity is Severity.ERROR
        self._rest[severity][code] += 1


def _are(count: str) -> str:
    return f"{count} {'is' if count.startswith('1 ') else 'are'}"
