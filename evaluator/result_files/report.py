"""The problems of one file; a limited number is listed, and the rest is counted."""

import math
from collections import Counter
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.problems import Kind, Problem, Severity, Share, counted
from vocboard.evaluator.problems.files import MORE_PROBLEMS, MORE_WARNINGS, READING_STOPPED
from vocboard.evaluator.problems.reported import ReportedProblems
from vocboard.evaluator.result_files.box_convention import BoxEvidence

LISTED = 20
MAX_PROBLEMS = 20_000  # errors after which reading a file stops


class FileReport:
    """Collects the problems of one file (or one directory of label maps).

    Attributes:
        file: name of the member, the default of `add`; None for the archive itself.
        habits: properties that all files of a program share, such as line ends; reported once per upload.
        lines: number of lines of a file with errors; None if it has none.
        competition: key of the competition that the file belongs to; None if it belongs to none.
        results, doubtful: number of results in the file, and of those that warnings are about.
        boxes: how the boxes fit their images.
    """

    def __init__(self, file: str | None, competition: str | None = None):
        self.file = file
        self.competition = competition
        self.results = self.doubtful = 0
        self.boxes = BoxEvidence()
        self._shares: dict[str, Share] = {}
        self.habits: set[Kind] = set()
        self.lines: int | None = None
        self._listed: list[Problem] = []
        self._rest: dict[Severity, Counter[str]] = {severity: Counter() for severity in Severity}
        self._errors = 0
        self._stopped_at: int | None = None

    @property
    def errors(self) -> int:
        """Number of errors."""
        return self._errors

    @property
    def has_errors(self) -> bool:
        """Whether there are errors."""
        return self._errors > 0

    @property
    def has_enough(self) -> bool:
        """Whether there are so many problems that reading should stop."""
        return self._errors > MAX_PROBLEMS

    def stop(self, line: int) -> None:
        """Record that reading stopped after a line."""
        self._stopped_at = line

    def add(
        self, kind: Kind, line: int | None = None, *, file: str | None = None, is_listed: bool = False, **found: object
    ) -> None:
        """Add a problem.

        Values in `found` may be functions, which are only called if the problem is listed.

        Args:
            is_listed: whether it is listed in place of another one, if there are others of that one's kind.
        """
        if is_listed and len(self._listed) == LISTED:
            self._make_room(kind)
        if len(self._listed) < LISTED:
            found = {name: value() if callable(value) else value for name, value in found.items()}
            self.note(kind.at(file or self.file, line, **found))
        else:
            self._count(kind.code, kind.severity)

    def warn_of(
        self,
        kind: Kind,
        found: NDArray[np.bool_],
        line_of: Callable[[int], int | None],
        noun: str,
        nouns: str | None = None,
        **more: object,
    ) -> None:
        """Add one warning about some of n results, if there are any, at the line of the first.

        Args:
            found: (n,) which results.
            line_of: returns the line of a result, by its index.
            noun, nouns: what one result is called, and several: without the latter, with an `s`.
            more: further fields of the message.
        """
        number = int(np.count_nonzero(found))
        if number:
            share = Share(number, len(found), noun, nouns or f"{noun}s")
            self.add_share(kind, share, line_of(int(np.argmax(found))), file=None, **more)

    def add_share(
        self, kind: Kind, share: Share, line: int | None = None, *, file: str | None = None, **more: object
    ) -> None:
        """Add one problem about some of the results, which is the field `count` of its message."""
        known = self._shares.get(kind.code)
        self._shares[kind.code] = share if known is None else known + share
        self.add(kind, line, file=file, is_listed=False, count=str(share), **more)

    def count_doubtful(self, doubtful: NDArray[np.bool_]) -> None:
        """Count results, and those that warnings are about: (n,) booleans."""
        self.results += len(doubtful)
        self.doubtful += int(np.count_nonzero(doubtful))

    def note(self, problem: Problem) -> None:
        """Add a problem that already has its message."""
        if len(self._listed) < LISTED:
            self._errors += problem.severity is Severity.ERROR
            self._listed.append(problem)
        else:
            self._count(problem.code, problem.severity)

    def problems(self) -> list[Problem]:
        """Return the listed problems by line, those of the whole file, and a problem that counts the rest."""
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

    def reported(self) -> ReportedProblems:
        """Return the problems with the number of those that are not listed, for groups."""
        unlisted = self._rest[Severity.ERROR] + self._rest[Severity.WARNING]
        is_one_file = all(problem.file == self.file for problem in self._listed)
        lines = self.lines if self._stopped_at is None else self._stopped_at
        return ReportedProblems(self.problems(), unlisted, is_one_file, self._shares, lines)

    def _make_room(self, kind: Kind) -> None:
        """Count the last problem, of another kind, that is not the only one of its kind which is listed."""
        listed = Counter(problem.code for problem in self._listed)
        for place in reversed(range(len(self._listed))):
            removed = self._listed[place]
            if listed[removed.code] > 1 and removed.code != kind.code:
                del self._listed[place]
                self._errors -= removed.severity is Severity.ERROR
                self._count(removed.code, removed.severity)
                return

    def _count(self, code: str, severity: Severity) -> None:
        self._errors += severity is Severity.ERROR
        self._rest[severity][code] += 1


def _are(count: str) -> str:
    return f"{count} {'is' if count.startswith('1 ') else 'are'}"
