"""The exception for invalid results, and the warning for those that look wrong."""

from collections.abc import Iterator, Sequence

from vocboard.evaluator.problems import Problem, Severity, counted
from vocboard.evaluator.reading.results import ReadResults

LISTED_IN_MESSAGE = 20
_LISTED_IN_WARNING = 5


class InvalidResultsError(ValueError):
    """The results have errors and were not scored.

    Attributes:
        problems: all problems, including warnings.
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(_message(self.problems)))


class ResultsWarning(UserWarning):
    """The results were scored, but have warnings; `problems` of the returned object has all of them."""


def warning_of(read: ReadResults) -> ResultsWarning | None:
    """Return the warning about results that have been scored; None if there is nothing to warn of."""
    if not read.problems:
        return None
    found = [group.headline for group in read.groups] or list(map(located, read.problems))  # files have groups
    more = len(found) - _LISTED_IN_WARNING
    head = f"the results have {counted(len(found), 'warning')}:"
    lines = [head, *(f"  {each}" for each in found[:_LISTED_IN_WARNING])]
    return ResultsWarning("\n".join([*lines, f"  and {more:,} more, see `problems`"] if more > 0 else lines))


def _message(problems: Sequence[Problem]) -> Iterator[str]:
    errors = [problem for problem in problems if problem.severity is Severity.ERROR]
    yield f"the results have {counted(len(errors), 'error')}"
    for problem in errors[:LISTED_IN_MESSAGE]:
        yield f"  {located(problem)}"
    if len(errors) > LISTED_IN_MESSAGE:
        yield f"  and {len(errors) - LISTED_IN_MESSAGE:,} more, see `problems`"


def located(problem: Problem) -> str:
    """Return a problem's message with its place."""
    place = ":".join(str(part) for part in (problem.file, problem.line) if part is not None)
    return f"{place}: {problem.message}" if place else problem.message
