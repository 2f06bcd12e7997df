"""Problems of development kit trees, collected and reported at once."""

from collections.abc import Iterable

from vocboard.evaluator.problems import Problem, Severity

LISTED_IN_MESSAGE = 20


class GroundTruthError(Exception):
    """The tree is not valid ground truth.

    Attributes:
        problems: all problems, each with its file in the tree and, if applicable, its line; errors first, then
            warnings.
    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(_message(self.problems))


class TreeProblems:
    """Collects problems of a tree; a problem found by two tasks is reported once.


    Args of the constructor:
        tolerant: whether a missing annotation is only a warning; the image then counts as one without objects.
    """

    def __init__(self, *, tolerant: bool = False) -> None:
        self.tolerant = tolerant
        self._problems: dict[Problem, None] = {}
        self._warnings: dict[Problem, None] = {}

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """The warnings so far."""
        return tuple(self._warnings)

    @property
    def has_errors(self) -> bool:
        """Whether there are errors so far."""
        return bool(self._problems)

    def warn(self, code: str, message: str, file: str | None = None) -> None:
        """Add a warning: a possible mistake that does not prevent scoring."""
        self._warnings.setdefault(Problem(code, Severity.WARNING, message, file))

    def add(self, code: str, message: str, file: str | None = None, line: int | None = None) -> None:
        """Add a problem."""
        self._problems.setdefault(Problem(code, Severity.ERROR, message, file, line))

    def raise_if_any(self) -> None:
        """Raise `GroundTruthError` if there are problems."""
        if self._problems:
            raise GroundTruthError([*self._problems, *self._warnings])


def some(names: Iterable[str], at_most: int = 5) -> str:
    """Return a few of the names, for a message.

    >>> some(["a", "b", "c"], at_most=2)
    'a, b and 1 more'
    """
    listed = list(names)
    more = len(listed) - at_most
    return ", ".join(listed[:at_most]) + (f" and {more} more" if more > 0 else "")


def _message(problems: tuple[Problem, ...]) -> str:
    lines = []
    for problem in problems[:LISTED_IN_MESSAGE]:
        place = ":".join(str(part) for part in (problem.file, problem.line) if part is not None)
        lines.append(f"{place}: {problem.message}" if place else problem.message)
    if len(problems) > LISTED_IN_MESSAGE:
        lines.append(f"... and {len(problems) - LISTED_IN_MESSAGE} more")
    return "\n".join(lines)
