"""Reading one upload, in a process of its own. Imports nothing that such a process does not need."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from vocboard.app.isolation.process_limits import limit_memory, step_back
from vocboard.evaluator.editions import Edition
from vocboard.evaluator.image_sets import ImageSets
from vocboard.evaluator.problems import Problem, Severity, has_errors
from vocboard.evaluator.reading import read_results


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
    """

    problems: tuple[Problem, ...]
    entries: tuple[EnteredCompetition, ...] = ()

    @property
    def refuses(self) -> bool:
        """Whether the upload cannot be accepted."""
        return has_errors(self.problems)

    def as_json(self) -> dict[str, Any]:
        """What `from_json` makes the report of again."""
        return {
            "problems": [problem.as_json() for problem in self.problems],
            "entries": [[entry.competition, list(entry.classes)] for entry in self.entries],
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
        return cls(problems, entries)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("not a text")
    return value


def _number(value: Any) -> int:
    if not isinstance(value, int):
        raise TypeError("not a number")
    return value


def get_ready() -> None:
    """Import what reading needs and has not imported: this module's imports have been made for calling this."""
    import pyarrow.compute  # noqa: PLC0415
    import pyarrow.csv  # noqa: F401, PLC0415


def check(  # noqa: PLR0917  # requests carry arguments by position
    path: Path,
    edition: Edition,
    image_sets: ImageSets,
    competitions: Collection[str],
    segmentation_classes: Sequence[str] | None,
    memory_limit_bytes: int,
) -> Report:
    """Read an upload completely and report on it.

    Args:
        competitions: keys of those that the challenge runs.
        segmentation_classes: declared by the participant; None for all.
        memory_limit_bytes: for the address space of this process from now on.

    Raises:
        MemoryError: reading takes more than that.
    """
    step_back()
    limit_memory(memory_limit_bytes)
    read = read_results(
        path,
        edition,
        image_sets,
        competitions=competitions,
        segmentation_classes=segmentation_classes,
    )
    entries = tuple(EnteredCompetition(key, tuple(entry.classes)) for key, entry in read.results.items())
    return Report(read.problems, entries)
