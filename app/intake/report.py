"""The messages between the web process or a worker and the process that reads an upload; its report."""

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from vocboard.app.intake.confinement import ReadingLimits
from vocboard.evaluator.problem_groups import ProblemGroup, groups_of
from vocboard.evaluator.problems import Problem, Severity, Share, has_errors

HEAD = struct.Struct("!cI")  # before every message from a process: its kind and its length
ANSWER, PIECE = b"A", b"P"
PIECE_BYTES = 1024 * 1024  # at most


@dataclass(frozen=True, slots=True)
class EnteredCompetition:
    """A competition that an upload has results for, with the classes entered."""

    competition: str
    classes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """The validation report of an upload.

    Attributes:
        problems: errors and warnings, in file order.
        entries: in the edition's order; of an invalid upload, as far as the names of its files say.
        has_columns: whether all results were also sent as columns.
        groups: the problems by cause; by default, as the list of problems alone allows.
        doubtful: by competition, how many results warnings are about, where they are too many to go unconfirmed.
    """

    problems: tuple[Problem, ...]
    entries: tuple[EnteredCompetition, ...] = ()
    has_columns: bool = False
    groups: tuple[ProblemGroup, ...] = ()
    doubtful: Mapping[str, Share] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Group the problems of a report that was not read from an upload."""
        if self.problems and not self.groups:
            object.__setattr__(self, "groups", groups_of(self.problems))

    @property
    def refuses(self) -> bool:
        """Whether the upload must be rejected."""
        return has_errors(self.problems)

    def as_json(self) -> dict[str, Any]:
        """Return the report as JSON, for `from_json`."""
        return {
            "problems": [problem.as_json() for problem in self.problems],
            "entries": [[entry.competition, list(entry.classes)] for entry in self.entries],
            "columns": self.has_columns,
            "groups": [group.as_json() for group in self.groups],
            "doubtful": {key: [share.number, share.total] for key, share in self.doubtful.items()},
        }

    @classmethod
    def from_json(cls, content: Any) -> Self:
        """Parse and check a report from an untrusted process.

        Raises:
            ValueError, LookupError, TypeError: it is not a valid report.
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
        groups = tuple(_group(one, problems) for one in content["groups"])
        doubtful = {
            _text(key): Share(_number(number), _number(total), "result", "results")
            for key, (number, total) in content["doubtful"].items()
        }
        return cls(problems, entries, content["columns"] is True, groups, doubtful)


@dataclass(frozen=True, slots=True)
class Request:
    """What a process is to do with its upload.

    Attributes:
        function: a function that takes the upload and the arguments, or its module and name.
        sends_columns: whether it is also passed `send_columns`.
    """

    function: str | Callable[..., Report]
    arguments: tuple[object, ...]
    limits: ReadingLimits
    sends_columns: bool


def _group(one: Any, problems: Sequence[Problem]) -> ProblemGroup:
    return ProblemGroup.of(
        _text(one["code"]),
        Severity(one["severity"]),
        _text(one["headline"]),
        _number(one["count"]),
        _number(one["file_count"]),
        problems,
    )


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
