"""What checking an upload found, as it comes out of the process that has read it."""

from dataclasses import dataclass
from typing import Any, Self

from vocboard.evaluator.problems import Problem, Severity, has_errors


@dataclass(frozen=True, slots=True)
class EnteredCompetition:
    """That an upload has results for a competition, and for which of its classes."""

    competition: str
    classes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """What validation found in an upload.

    Attributes:
        problems: errors and warnings, in the order of the files.
        entries: in the edition's order; complete if nothing refuses the upload.
        has_columns: whether all that was read came out as columns, too.
    """

    problems: tuple[Problem, ...]
    entries: tuple[EnteredCompetition, ...] = ()
    has_columns: bool = False

    @property
    def refuses(self) -> bool:
        """Whether the upload cannot be accepted."""
        return has_errors(self.problems)

    def as_json(self) -> dict[str, Any]:
        """What `from_json` makes the report of again."""
        return {
            "problems": [problem.as_json() for problem in self.problems],
            "entries": [[entry.competition, list(entry.classes)] for entry in self.entries],
            "columns": self.has_columns,
        }

    @classmethod
    def from_json(cls, content: Any) -> Self:
        """Return the report that a process has sent, of which nothing is taken for granted.

        Raises:
            ValueError, LookupError, TypeError: it is none.
        """
        problems = tuple(
            Problem(
                _text(one["code"]),
                Severity(one["severity"]),
                _text(one["message"]),
                None if one["file"] is None else _text(one["file"]),
                None if one["line"] is None else _number(one["line"]),
            )
            for one in content["problems"]
        )
        entries = tuple(
            EnteredCompetition(_text(competition), tuple(_text(name) for name in classes))
            for competition, classes in content["entries"]
        )
        return cls(problems, entries, content["columns"] is True)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("not a text")
    value.encode()  # half of a surrogate pair is a ValueError: no answer can hold it
    if "\0" in value:
        raise ValueError("no database can hold it")
    return value


def _number(value: Any) -> int:
    if not isinstance(value, int):
        raise TypeError("not a number")
    return value
