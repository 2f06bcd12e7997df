"""The record of one submission in an export. Its owner's private note is not in it."""

from collections.abc import Container

from vocboard.app.submissions.models import Submission
from vocboard.app.transfer.records import Entry, EvaluationRecord, SubmissionRecord, Warn

# What a record and the row of a submission have under the same name.
SAME = (
    "created_at",
    "began_at",
    "description",
    "contributors",
    "affiliation",
    "declarations",
    "flickr_count",
    "segmentation_classes",
    "archive_sha256",
    "archive_bytes",
    "archive_name",
    "quota_returned_at",
    "published_at",
    "published_before",
    "publish_when_scored",
    "disqualified_at",
    "held_back_at",
    "moderation_reason",
)


def submission_record(
    one: Submission, phase: str, evaluation: EvaluationRecord | None, archives: Container[str]
) -> SubmissionRecord:
    """Return a submission with its method and entries as a record.

    Args:
        phase: its key.
        archives: SHA-256 of the exported archives.
    """
    return SubmissionRecord(
        **{name: getattr(one, name) for name in SAME},
        id=one.id,
        phase=phase,
        person=one.user_id,
        method=one.method.name,
        paper_url=one.method.paper_url,
        code_url=one.method.code_url,
        has_archive=one.has_archive and one.archive_sha256 in archives,
        entries=[Entry.model_validate(entry, from_attributes=True) for entry in one.entries],
        warnings=[Warn(**warning) for warning in one.warnings],
        state=one.state,
        finished_at=one.finished_at,
        failure=one.failure,
        evaluation=evaluation,
    )
