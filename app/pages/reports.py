"""The validation report of an upload for pages: errors and warnings, by cause or by file."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vocboard.evaluator.problem_groups import ProblemGroup, counted_in_files
from vocboard.evaluator.problems import Problem, Severity


@dataclass(frozen=True, slots=True)
class FileProblems:
    """The problems of one file; `file` is None for the archive itself."""

    file: str | None
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class ReportView:
    """A validation report.

    Attributes:
        errors, warnings: by cause.
        counted_errors, counted_warnings: how many there are, in how many files: "30 errors in 6 files".
        text: the whole report, one problem per line, for copying.
    """

    errors: tuple[ProblemGroup, ...]
    warnings: tuple[ProblemGroup, ...]
    counted_errors: str
    counted_warnings: str
    text: str


def report_view(problems: Sequence[Problem], groups: Sequence[ProblemGroup]) -> ReportView:
    """Prepare problems for a page.

    Args:
        groups: the same problems by cause.
    """
    return ReportView(
        errors=tuple(group for group in groups if group.severity is Severity.ERROR),
        warnings=tuple(group for group in groups if group.severity is Severity.WARNING),
        counted_errors=counted_in_files(groups, Severity.ERROR),
        counted_warnings=counted_in_files(groups, Severity.WARNING),
        text="\n".join(as_text(problem) for problem in problems),
    )


def by_file(problems: Iterable[Problem]) -> tuple[FileProblems, ...]:
    """Group problems by file, files in the order of their first problem."""
    groups: dict[str | None, list[Problem]] = {}
    for problem in problems:
        groups.setdefault(problem.file, []).append(problem)
    return tuple(FileProblems(file, tuple(found)) for file, found in groups.items())


def stored(problems: Iterable[Mapping[str, Any]]) -> tuple[FileProblems, ...]:
    """Group problems stored as JSON."""
    return by_file(
        Problem(
            code=problem["code"],
            severity=Severity(problem["severity"]),
            message=problem["message"],
            file=problem.get("file"),
            line=problem.get("line"),
        )
        for problem in problems
    )


def as_text(problem: Problem) -> str:
    """Write a problem in one line.

    >>> as_text(Problem("unknown_image", Severity.ERROR, "Not in the test set.", "Main/a.txt", 3))
    'Main/a.txt:3: error: Not in the test set. [unknown_image]'
    """
    place = problem.file or "archive"
    if problem.line is not None:
        place += f":{problem.line}"
    return f"{place}: {problem.severity.value}: {problem.message} [{problem.code}]"
