"""The problems that reading a part of an upload has found."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from vocboard.evaluator.problems import Problem, Share


@dataclass(frozen=True, slots=True)
class ReportedProblems:
    """The problems of one file, of a directory of label maps, or of the archive as a whole.

    Attributes:
        unlisted: number of problems that are not listed, by code.
        is_one_file: whether the unlisted ones are in a file that listed ones are in.
        shares: of the results that a problem is about, by code; without those of problems that are about whole files.
        lines: number of lines that were read; None if the file has none.
    """

    problems: Sequence[Problem]
    unlisted: Mapping[str, int] = field(default_factory=dict)
    is_one_file: bool = True
    shares: Mapping[str, Share] = field(default_factory=dict)
    lines: int | None = None
