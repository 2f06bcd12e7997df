"""Format problems as text: grouped by cause or by file, with a count at the end."""

import itertools
import shutil
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from vocboard.client.terminal import printable
from vocboard.evaluator.problems import Problem, Severity, counted, has_errors

if TYPE_CHECKING:
    from vocboard.evaluator.problem_groups import ProblemGroup

_NARROWEST, _WIDEST = 60, 120  # columns of the terminal


def problem_lines(problems: Sequence[Problem], whole: str = "whole archive") -> Iterator[str]:
    """Yield the lines that describe the problems, grouped under file names.

    Args:
        problems: the problems, those of a file one after the other.
        whole: heading for problems without a file.
    """
    width = min(max(shutil.get_terminal_size().columns, _NARROWEST), _WIDEST)
    for file, group in itertools.groupby(problems, key=lambda problem: problem.file):
        yield whole if file is None else printable(file)
        yield from _file_lines(list(group), width)
        yield ""


def group_lines(
    groups: "Sequence[ProblemGroup]", page: str | None = None, *, every_place: bool | None = None
) -> Iterator[str]:
    """Yield the lines that describe problems by cause: what to do, the first places, and where it is explained.

    Args:
        page: address of the page that explains all problems; None to name `vocboard explain`.
        every_place: whether to name all listed places, for commands with `--all`.
    """
    from vocboard.evaluator.problem_groups import PLACES  # noqa: PLC0415  # most results have no problems

    width = min(max(shutil.get_terminal_size().columns, _NARROWEST), _WIDEST)
    for group in groups:
        head = f"{group.severity.value}: {printable(group.headline)} [{printable(group.code)}]"
        yield textwrap.fill(head, width, subsequent_indent="  ", break_long_words=False)
        shown = group.problems if every_place else group.problems[:PLACES]
        for problem in () if group.is_said_by_headline else shown:
            line = "" if problem.line is None else f", line {problem.line}"
            place = printable(problem.file or "whole archive") + line
            text = place if problem.message == group.headline else f"{place}: {printable(problem.message)}"
            yield textwrap.fill(text, width, initial_indent="  - ", subsequent_indent="    ", break_long_words=False)
        if group.count > len(shown):
            option = "`vocboard validate --all`" if every_place is None else "--all"
            listed = "" if len(group.problems) == len(shown) else f"; {option} shows those that are listed"
            yield f"  - and {counted(group.count - len(shown), 'more place')}{listed}"
        yield f"  See {printable(explanation(group.code, page))}"
        yield ""


def explanation(code: str, page: str | None) -> str:
    """Return where the code of a problem is explained.

    Args:
        page: address of the page that explains all problems; None without a server.

    >>> explanation("tabs", "https://voc.example.org/docs/problems"), explanation("tabs", None)
    ('https://voc.example.org/docs/problems#tabs', '`vocboard explain tabs`')
    """
    return f"`vocboard explain {code}`" if page is None else f"{page}#{code}"


def group_summary(groups: "Sequence[ProblemGroup]") -> str:
    """Return whether the results are valid, with the number of errors and warnings and their files."""
    if not groups:
        return "Valid."
    from vocboard.evaluator.problem_groups import counted_in_files  # noqa: PLC0415  # most results have no problems

    found = [group.severity for group in groups]
    counts = [counted_in_files(groups, severity) for severity in Severity if severity in found]
    verdict = "Not valid" if Severity.ERROR in found else "Valid"
    return f"{verdict}: {', '.join(counts)}."


def summary(problems: Sequence[Problem]) -> str:
    """Return whether the results are valid, with the number of errors and warnings."""
    verdict = "Not valid" if has_errors(problems) else "Valid"
    errors, warnings = (_number(problems, severity) for severity in Severity)
    counts = [counted(errors, "error")] if errors else []
    counts += [counted(warnings, "warning")] if warnings else []
    return f"{verdict}: {', '.join(counts)}." if counts else f"{verdict}."


def image_set_hint(problems: Sequence[Problem]) -> Iterator[str]:
    """Yield a hint about --image-set if results belong to another image set."""
    if any(problem.code == "wrong_image_set" for problem in problems):
        yield "To check or score results of another image set, use --image-set."


def _file_lines(problems: Sequence[Problem], width: int) -> Iterator[str]:
    places = ["" if problem.line is None else f"line {problem.line}" for problem in problems]
    columns = max(map(len, places))
    for place, problem in zip(places, problems, strict=True):
        head = f"  {place:>{columns}}  " if columns else "  "
        head += f"{problem.severity.value:<7}  "
        text = f"{printable(problem.message)} [{printable(problem.code)}]"
        yield textwrap.fill(text, width, initial_indent=head, subsequent_indent=" " * len(head), break_long_words=False)


def _number(problems: Iterable[Problem], severity: Severity) -> int:
    return sum(problem.severity is severity for problem in problems)
