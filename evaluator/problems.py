"""Everything that can be wrong with an upload, in the form participants get it."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """An error refuses the upload; a warning does not change any score."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: what, where, and how to mend it.

    Attributes:
        code: stable identifier, such as `unknown_image`.
        file: the member's name as it stands in the archive; None if the archive itself is meant.
        line: 1-based; None if the whole file is meant.
        message: what was found, what was expected, how to mend it. Holds nothing derived from the ground truth.
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
