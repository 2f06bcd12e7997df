"""What is wrong with something to be converted: gathered over the whole input, and told all at once."""

from collections.abc import Iterable
from dataclasses import dataclass

from vocboard.evaluator.problems import Problem, Severity, counted

LISTED = 10  # values of one kind that a message names


class ConversionError(Exception):
    """An input cannot be converted.

    Attributes:
        problems: all that was found, warnings included.
    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(problem.message for problem in self.problems))


@dataclass(slots=True)
class _Group:
    """Everything of one kind: how often, where first, and which values there were."""

    severity: Severity
    found: str
    remedy: str
    count: int
    file: str | None
    line: int | None
    values: dict[str, int]


class ProblemCollector:
    """Gathers problems by kind, each with its number and first place; a kind is told once, however often it occurs."""

    def __init__(self) -> None:
        self._groups: dict[tuple[str, str | None], _Group] = {}

    def add(
        self,
        code: str,
        found: str,
        remedy: str,
        *,
        file: str | None = None,
        line: int | None = None,
        value: object = None,
        noun: str = "time",
        severity: Severity = Severity.ERROR,
    ) -> None:
        """Note one occurrence.

        Args:
            code: stable name of the kind.
            found: what was found and expected, the same for the whole kind.
            remedy: how to fix it.
            file: the input file; kinds are told apart by file.
            line: or record, from 1 on.
            value: what differs between occurrences, such as a name; the message lists the values and how often each is.
            noun: what is counted.
            severity: an error keeps the output from being written.
        """
        key = (code, file)
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = _Group(severity, f"{found}\0{noun}", remedy, 0, file, line, {})
        group.count += 1
        if value is not None:
            text = str(value)
            group.values[text] = group.values.get(text, 0) + 1

    @property
    def has_errors(self) -> bool:
        """Whether anything so far keeps the output from being written."""
        return any(group.severity is Severity.ERROR for group in self._groups.values())

    def problems(self) -> tuple[Problem, ...]:
        """Return one problem a kind, in the order in which they were first met."""
        return tuple(
            Problem(code, group.severity, _message(group), group.file, group.line)
            for (code, _), group in self._groups.items()
        )

    def raise_if_errors(self) -> None:
        """Raise `ConversionError` with everything noted, if anything of it is an error."""
        if self.has_errors:
            raise ConversionError(self.problems())


def _message(group: _Group) -> str:
    found, _, noun = group.found.partition("\0")
    parts = [found]
    if group.values:
        listed = [f"{value} ({count:,})" if count > 1 else value for value, count in group.values.items()]
        more = len(listed) - LISTED
        parts.append(": " + ", ".join(listed[:LISTED]) + (f" and {more:,} more" if more > 0 else ""))
    if group.count > 1:
        parts.append(f"; {counted(group.count, noun)}" + (", the first here" if group.line else ""))
    return "".join(parts) + f". {group.remedy}"
