"""Problems of development kit trees, collected and reported at once."""

from collections.abc import Iterable

from vocboard.evaluator.problems import Problem, Severity

LISTED_IN_MESSAGE = 20


class GroundTruthError(Exception):
    """The tree is not valid ground truth.

    Attributes:
        problems: all problems, each with its file in the tree and, if applicable, its line.
    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(_message(self.problems))


class TreeProblems:
    """Collects problems of a tree; a problem found by two tasks is reported once."""

    def __init__(self) -> None:
        self._problems: dict[Problem, None] = {}

    def add(self, code: str, message: str, file: str | None = None, line: int | None = None) -> None:
        """Add a problem."""
        self._problems.setdefault(Problem(code, Severity.ERROR, message, file, line))

    def raise_if_any(self) -> None:
        """Raise `GroundTruthError` if there are problems."""
        if self._problems:
            raise GroundTruthError(self._problems)


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
