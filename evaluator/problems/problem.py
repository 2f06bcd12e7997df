"""What is wrong with an upload, in the form participants get it. `catalogue` lists all that can be."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """An error refuses the upload; a warning does not change any score."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: what, where, and how to fix it.

    Attributes:
        code: stable identifier, such as `unknown_image`.
        file: the member's name as it stands in the archive; None if the archive itself is meant.
        line: 1-based; None if the whole file is meant.
        message: what was found, what was expected, how to fix it. Holds nothing derived from the ground truth.
    """

    code: str
    severity: Severity
    message: str
    file: str | None = None
    line: int | None = None

    def as_json(self) -> dict[str, str | int | None]:
        """The shape shared by the command line, the REST API and the pages."""
        return {
            "code": self.code,
            "severity": self.severity.value,
            "file": self.file,
            "line": self.line,
            "message": self.message,
        }


def has_errors(problems: Iterable[Problem]) -> bool:
    """Whether any of them refuses the upload."""
    return any(problem.severity is Severity.ERROR for problem in problems)


@dataclass(frozen=True, slots=True)
class Kind:
    """A row of the catalogue.

    Attributes:
        title: what is wrong, in a few words, for headings.
        found: wording of what was found and expected, with fields that `at` fills in.
        remedy: how to fix it.
        example: what in an upload leads to it, for the documentation.
    """

    code: str
    severity: Severity
    title: str
    found: str
    remedy: str
    example: str

    def at(self, file: str | None = None, line: int | None = None, **found: object) -> Problem:
        """The problem of this kind in one place; `found` fills the fields of the wording.

        Text that came with the upload must have gone through `quoted`.
        """
        message = f"{self.found} {self.remedy}".strip().format(**found)
        return Problem(self.code, self.severity, message, file, line)


def quoted(text: str, longest: int = 60) -> str:
    """Text from an upload as it may stand in a message: in quotes, on one line, printable, shortened.

    >>> quoted("a\\tb")
    "'a\\\\tb'"
    """
    return repr(text if len(text) <= longest else text[: longest - 1] + "…")


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun.

    >>> counted(1, "image"), counted(1200, "image"), counted(2, "box", "boxes")
    ('1 image', '1,200 images', '2 boxes')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"
