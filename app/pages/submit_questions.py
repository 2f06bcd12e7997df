"""What the submit page says of an archive that was checked, and what it asks to confirm."""

import uuid
from dataclasses import dataclass

from vocboard.app.errors import IncompleteEntryError, LimitedError, ServiceError, WarningsNotAcceptedError
from vocboard.app.intake.accepting import classes_not_entered, doubtful_sentence, incomplete_sentence
from vocboard.app.intake.multipart import IDENTICAL_FIELD, INCOMPLETE_FIELD, WARNINGS_FIELD
from vocboard.app.intake.service import CheckedUpload
from vocboard.app.pages.reports import ReportView, report_view
from vocboard.app.submissions.queries import IdenticalArchiveError


@dataclass(frozen=True, slots=True)
class Question:
    """What has to be confirmed before an archive is submitted.

    Attributes:
        field: of the form.
        text: why it is asked.
        label: of the box to tick.
        submission_id: an earlier submission that the text is about.
    """

    field: str
    text: str
    label: str
    submission_id: uuid.UUID | None = None


def _doubtful(text: str) -> Question | None:
    return Question(WARNINGS_FIELD, text, "Submit the results with these warnings") if text else None


def _incomplete(text: str) -> Question | None:
    return Question(INCOMPLETE_FIELD, text, "Submit without the missing classes") if text else None


def _identical(error: IdenticalArchiveError | None) -> Question | None:
    if error is None:
        return None
    return Question(IDENTICAL_FIELD, str(error), "Submit it again anyway", error.submission_id)


def question(error: ServiceError | None) -> Question | None:
    """Return what the person has to confirm, if a submission was refused for lack of that."""
    match error:
        case WarningsNotAcceptedError():
            return _doubtful(str(error))
        case IncompleteEntryError():
            return _incomplete(str(error))
        case IdenticalArchiveError():
            return _identical(error)
    return None


@dataclass(frozen=True, slots=True)
class Checked:
    """A valid archive: what it enters.

    Attributes:
        competitions: keys, in the edition's order.
        questions: what has to be confirmed.
        limit: the quota that is used up.
        warnings: of the report, by cause.
    """

    competitions: tuple[str, ...]
    questions: tuple[Question, ...]
    limit: LimitedError | None
    warnings: ReportView

    @classmethod
    def of(cls, found: CheckedUpload) -> "Checked":
        """Say what the check of an upload has found."""
        report = found.report
        return cls(
            tuple(entry.competition for entry in report.entries),
            tuple(
                filter(
                    None,
                    (
                        _doubtful(doubtful_sentence(report.doubtful)),
                        _incomplete(incomplete_sentence(classes_not_entered(report, found.edition), found.edition)),
                        _identical(found.identical),
                    ),
                )
            ),
            found.limit,
            report_view(report.problems, report.groups),
        )
