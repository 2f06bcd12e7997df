"""Problems of conversion inputs, collected over the whole input and reported at once."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from vocboard.evaluator.problems import Problem, Severity, counted

LISTED = 10  # values of one kind that a message names
TEXT_SUFFIX = ".txt"


class ConversionError(Exception):
    """An input cannot be converted.

    Attributes:
        problems: all problems, including warnings.
    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(problem.message for problem in self.problems))


@dataclass(slots=True)
class _Group:
    """All occurrences of one kind of problem: their number, first place, files and values."""

    severity: Severity
    found: str
    remedy: str
    noun: tuple[str, str | None]
    file: str | None
    line: int | None
    count: int = 0
    values: dict[str, int] = field(default_factory=dict)
    files: set[str | None] = field(default_factory=set)

    @property
    def is_text(self) -> bool:
        """Whether `line` is a line of a text file; otherwise it is the number of a record."""
        return self.file is not None and self.file.endswith(TEXT_SUFFIX)


class ProblemCollector:
    """Collects problems by kind, each with its count and first place; each kind is reported once."""

    def __init__(self) -> None:
        self._groups: dict[str, _Group] = {}

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
        nouns: str | None = None,
        severity: Severity = Severity.ERROR,
    ) -> None:
        """Add one occurrence of a problem.

        Args:
            code: stable name of the kind.
            found: what was found and expected. That of the first occurrence is reported, so it may quote an example.
            remedy: how to fix it.
            file: the input file.
            line: line of a text file, or number of the record in another file, from 1 on.
            value: what differs between occurrences, such as a name; the message lists the values and their numbers.
            noun: noun for counts.
            nouns: its plural, if that is not the noun with an s.
            severity: with an error, no output is written.
        """
        group = self._groups.get(code)
        if group is None:
            group = self._groups[code] = _Group(severity, found, remedy, (noun, nouns), file, line)
        group.count += 1
        group.files.add(file)
        if value is not None:
            text = str(value)
            group.values[text] = group.values.get(text, 0) + 1

    @property
    def has_errors(self) -> bool:
        """Whether there are errors so far."""
        return any(group.severity is Severity.ERROR for group in self._groups.values())

    def problems(self) -> tuple[Problem, ...]:
        """Return one problem for each kind, in the order of their first occurrences."""
        return tuple(
            Problem(code, group.severity, _message(group), group.file, group.line if group.is_text else None)
            for code, group in self._groups.items()
        )

    def raise_if_errors(self) -> None:
        """Raise `ConversionError` with all problems if there are errors."""
        if self.has_errors:
            raise ConversionError(self.problems())


def refused(code: str, found: str, remedy: str, file: str | None = None) -> ConversionError:
    """Return the error for an input with one problem; see `ProblemCollector.add`."""
    problems = ProblemCollector()
    problems.add(code, found, remedy, file=file)
    return ConversionError(problems.problems())


def needs_directory(path: Path, content: str) -> ConversionError:
    """Return the error for an input file that should be a directory, or an archive of one.

    Args:
        path: the input.
        content: what the directory should have.
    """
    message = f"This is a file; expected a directory, or an archive of it, with {content}."
    return ConversionError([Problem("not_a_directory", Severity.ERROR, message, path.name)])


def note_repeated_file(image: str, file: str, problems: ProblemCollector) -> None:
    """Add an error for a second file of an image, such as one of another run."""
    remedy = "Name the folder of one run: an image has one file."
    problems.add("repeated_file", "images with several files", remedy, file=file, value=image, noun="further file")


def _message(group: _Group) -> str:
    parts = [group.found]
    if group.values:
        listed = [f"{value} ({count:,})" if count > 1 else value for value, count in group.values.items()]
        more = len(listed) - LISTED
        parts.append(": " + ", ".join(listed[:LISTED]) + (f" and {more:,} more" if more > 0 else ""))
    is_in_record = group.line is not None and not group.is_text
    if group.count > 1:
        parts.append(f"; {counted(group.count, *group.noun)}")
        if len(group.files) > 1:
            parts.append(f" in {counted(len(group.files), 'place')}")
        parts.append(
            f", the first in record {group.line:,}" if is_in_record else ", the first here" if group.line else ""
        )
    elif is_in_record:
        parts.append(f", in record {group.line:,}")
    text = "".join(parts)
    return f"{text[0].upper()}{text[1:]}. {group.remedy}"
