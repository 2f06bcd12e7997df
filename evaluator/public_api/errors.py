"""The exception for invalid results."""

from collections.abc import Iterator, Sequence

from vocboard.evaluator.problems import Problem, Severity, counted

LISTED_IN_MESSAGE = 20


class InvalidResultsError(ValueError):
    """The results have errors and were not scored.

    Attributes:
        problems: all problems, including warnings.
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(_message(self.problems)))


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
