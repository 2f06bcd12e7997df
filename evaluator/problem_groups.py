"""Groups the problems of an upload by their cause, so that people read what to do first.

The list of problems is for programs; groups are made of it, and of the counts of what it does not list. Like the list,
they depend on the upload and on the public image sets alone.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from vocboard.evaluator.problem_catalogue import CATALOGUE, MODULES
from vocboard.evaluator.problems import Kind, Problem, Severity, Share, counted
from vocboard.evaluator.problems.files import MORE_PROBLEMS, MORE_WARNINGS, READING_STOPPED
from vocboard.evaluator.problems.headlines import Facts, Found, headline
from vocboard.evaluator.problems.reported import ReportedProblems

PLACES = 3  # that a group shows first
_COUNTS = {MORE_PROBLEMS.code, MORE_WARNINGS.code, READING_STOPPED.code}  # about problems, not problems themselves
_FIRST = (
    # Names: as long as they are wrong, what is in the files is not read, or belongs to something else.
    "nested_archive",
    "wrong_image_set",
    "file_of_another_edition",
    "no_result_files",
    "nested_too_deep",
    # Likely causes of other warnings.
    "boxes_as_fractions",
    "boxes_with_width_and_height",
    "boxes_from_centre",
    "confidence_after_box",
    "zero_based_boxes",
)
_ORDER = {code: place for place, code in enumerate(_FIRST)} | {
    kind.code: len(_FIRST) + place
    for place, module in enumerate(MODULES)
    for kind in vars(module).values()
    if isinstance(kind, Kind) and kind.code not in _FIRST
}


@dataclass(frozen=True, slots=True)
class ProblemGroup:
    """Problems with the same cause.

    Attributes:
        code: of the problems.
        headline: the cause, and what to do.
        count: number of problems, with those that are not listed.
        unlisted_files: number of files that have such a problem, but none in the list.
        problems: the listed ones, by file and line: archives have files in any order.
    """

    code: str
    severity: Severity
    headline: str
    count: int
    unlisted_files: int
    problems: tuple[Problem, ...]

    @classmethod
    def of(  # noqa: PLR0917  # in the order of the JSON
        cls, code: str, severity: Severity, headline: str, count: int, file_count: int, problems: Iterable[Problem]
    ) -> Self:
        """Return a group out of its JSON and the list of all problems."""
        own = _in_order(problem for problem in problems if problem.code == code)
        listed = {problem.file for problem in own if problem.file is not None}
        return cls(code, severity, headline, count, file_count - len(listed), own)

    @property
    def files(self) -> tuple[str, ...]:
        """The names of files with a listed problem, in order."""
        return tuple(dict.fromkeys(problem.file for problem in self.problems if problem.file is not None))

    @property
    def file_count(self) -> int:
        """Number of files; 0 if the problem is one of the archive as a whole."""
        return len(self.files) + self.unlisted_files

    @property
    def is_said_by_headline(self) -> bool:
        """Whether the headline is all that there is to say: one problem, of the archive as a whole."""
        only = self.problems[0] if len(self.problems) == self.count == 1 else None
        return only is not None and only.file is None and only.message == self.headline

    def as_json(self) -> dict[str, Any]:
        """Return the JSON format of the command line and the REST API, with the first places."""
        return {
            "code": self.code,
            "severity": self.severity.value,
            "headline": self.headline,
            "count": self.count,
            "file_count": self.file_count,
            "places": [{"file": problem.file, "line": problem.line} for problem in self.problems[:PLACES]],
        }


@dataclass(slots=True)
class _Gathered:
    problems: list[Problem] = field(default_factory=list)
    count: int = 0
    unlisted_files: int = 0
    lines: int | None = None
    share: Share | None = None


def grouped(reports: Iterable[ReportedProblems], facts: Facts | None = None) -> tuple[ProblemGroup, ...]:
    """Group problems: errors first, and in the order in which it makes sense to solve them.

    Args:
        reports: of all files, in the order of the list of problems.
        facts: about the upload, for the headlines.
    """
    gathered: dict[str, _Gathered] = {}
    for report in reports:
        _gather(report, gathered)
    found = facts or Facts()
    groups = []
    for code, group in gathered.items():
        kind, problems = CATALOGUE.get(code), _in_order(group.problems)
        severity = problems[0].severity if kind is None else kind.severity
        files = len({problem.file for problem in problems if problem.file is not None}) + group.unlisted_files
        text = headline(Found(code, kind, problems, group.count, files, group.lines, group.share), found)
        groups.append(ProblemGroup(code, severity, text, group.count, group.unlisted_files, problems))
    return tuple(sorted(groups, key=lambda group: (group.severity is not Severity.ERROR, _ORDER.get(group.code, 0))))


def groups_of(problems: Sequence[Problem]) -> tuple[ProblemGroup, ...]:
    """Group a list of problems without knowing more than the list."""
    return grouped([ReportedProblems(problems)]) if problems else ()


def totals(groups: Iterable[ProblemGroup], severity: Severity) -> tuple[int, int]:
    """Return the number of problems of a severity, and the number of files that have them."""
    of_severity = [group for group in groups if group.severity is severity]
    files = {file for group in of_severity for file in group.files}
    return (
        sum(group.count for group in of_severity),
        len(files) + sum(group.unlisted_files for group in of_severity),
    )


def counted_in_files(groups: Iterable[ProblemGroup], severity: Severity) -> str:
    """Return how many problems of a severity there are, and in how many files: "30 errors in 6 files"."""
    number, files = totals(groups, severity)
    text = counted(number, severity.value)
    return f"{text} in {counted(files, 'file')}" if files else text


def _in_order(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    return tuple(sorted(problems, key=lambda problem: (problem.file or "", problem.line or 0)))


def _gather(report: ReportedProblems, gathered: dict[str, _Gathered]) -> None:
    listed: Counter[str] = Counter()
    for problem in report.problems:
        if problem.code in _COUNTS:
            continue
        listed[problem.code] += 1
        gathered.setdefault(problem.code, _Gathered()).problems.append(problem)
    for code in listed | Counter(report.unlisted):
        group = gathered.setdefault(code, _Gathered())
        unlisted = report.unlisted.get(code, 0)
        group.count += listed[code] + unlisted
        if unlisted and not report.is_one_file:
            group.unlisted_files += unlisted
        elif unlisted and not listed[code]:
            group.unlisted_files += 1
        share = report.shares.get(code)
        if share is not None:
            group.share = share if group.share is None else group.share + share
        if report.lines is not None:
            group.lines = (group.lines or 0) + report.lines
