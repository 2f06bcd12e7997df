"""What participants confirm before an upload uses quota: missing classes, and results that are most likely wrong."""

from collections.abc import Mapping, Sequence

from vocboard.app.errors import IncompleteEntryError, WarningsNotAcceptedError
from vocboard.app.intake.report import Report
from vocboard.evaluator.editions import Edition
from vocboard.evaluator.problems import Share
from vocboard.evaluator.result_files import completeness


def classes_not_entered(report: Report, edition: Edition) -> dict[str, tuple[str, ...]]:
    """Return the classes that an upload leaves out, by competition."""
    return completeness.classes_not_entered({entry.competition: entry.classes for entry in report.entries}, edition)


def incomplete_sentence(not_entered: Mapping[str, Sequence[str]], edition: Edition) -> str:
    """Say which classes are missing, and what to do; empty if there are none."""
    if not not_entered:
        return ""
    return f"{completeness.sentence(not_entered, edition)} Add the missing files, or submit without them."


def doubtful_sentence(doubtful: Mapping[str, Share]) -> str:
    """Say how many results the warnings are about, and what to do; empty if they are few in each competition."""
    if not doubtful:
        return ""
    shares = "; ".join(f"{share} of {key}" for key, share in doubtful.items())
    return f"The warnings are about {shares}. Fix them, or submit the results with these warnings."


def refuse_incomplete(report: Report, edition: Edition) -> None:
    """Raise `IncompleteEntryError` if an upload leaves out classes."""
    not_entered = classes_not_entered(report, edition)
    if not_entered:
        raise IncompleteEntryError(incomplete_sentence(not_entered, edition), not_entered)


def refuse_doubtful(report: Report) -> None:
    """Raise `WarningsNotAcceptedError` if warnings are about too many of the results."""
    if report.doubtful:
        raise WarningsNotAcceptedError(doubtful_sentence(report.doubtful), report.problems, report.groups)
