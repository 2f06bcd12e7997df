"""A problem of an upload. `problem_catalogue` lists all of them."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """An error rejects the upload; with warnings alone it is scored unchanged."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem: what is wrong, where, and how to fix it.

    Attributes:
        code: stable identifier, for example `unknown_image`.
        file: name in the archive; None for problems of the whole archive.
        line: 1-based; None for problems of the whole file.
        message: what was found, what was expected, how to fix it. Contains nothing derived from the ground truth.
    """

    code: str
    severity: Severity
    message: str
    file: str | None = None
    line: int | None = None

    def as_json(self) -> dict[str, str | int | None]:
        """Return the JSON format of the command line and the REST API."""
        return {
            "code": self.code,
            "severity": self.severity.value,
            "file": self.file,
            "line": self.line,
            "message": self.message,
        }


def has_errors(problems: Iterable[Problem]) -> bool:
    """Whether any of the problems is an error."""
    return any(problem.severity is Severity.ERROR for problem in problems)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of problem: an entry of the catalogue.

    Attributes:
        title: what is wrong, in a few words, for headings.
        found: message template of what was found and expected, with fields that `at` fills in.
        remedy: how to fix it.
        example: content of an upload that causes it, for the documentation.
    """

    code: str
    severity: Severity
    title: str
    found: str
    remedy: str
    example: str

    def at(self, file: str | None = None, line: int | None = None, **found: object) -> Problem:
        """Return a problem of this kind at one place; `found` fills the template's fields.

        Text from the upload must be passed through `quoted`.
        """
        message = f"{self.found} {self.remedy}".strip().format(**found)
        return Problem(self.code, self.severity, message, file, line)


@dataclass(frozen=True, slots=True)
class Share:
    """How many of some results: `7,282 of 7,283 boxes`. Shares of several files are added.

    Attributes:
        number, total: how many, of how many.
        noun, nouns: what one is called, and what several are.
    """

    number: int
    total: int
    noun: str
    nouns: str

    def __add__(self, other: "Share") -> "Share":
        return Share(self.number + other.number, self.total + other.total, self.noun, self.nouns)

    def __str__(self) -> str:
        return f"{self.number:,} of {counted(self.total, self.noun, self.nouns)}"


def quoted(text: str, max_length: int = 60) -> str:
    """Text from an upload as it may stand in a message: in quotes, on one line, printable, shortened.

    >>> quoted("a\\tb")
    "'a\\\\tb'"
    """
    return repr(text if len(text) <= max_length else text[: max_length - 1] + "…")


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun.

    >>> counted(1, "image"), counted(1200, "image"), counted(2, "box", "boxes")
    ('1 image', '1,200 images', '2 boxes')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"
