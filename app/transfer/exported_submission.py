"""The record of one submission in an export. Its owner's private note is not in it."""

from vocboard.app.submissions.models import Submission
from vocboard.app.transfer.records import Entry, EvaluationRecord, SubmissionRecord, Warn


def submission_record(one: Submission, evaluation: EvaluationRecord | None, *, has_archive: bool) -> SubmissionRecord:
    """Return a submission with its method and entries as a record."""
    return SubmissionRecord(
        id=one.id,
        created_at=one.created_at,
        began_at=one.began_at,
        phase=one.phase_key,
        person=one.user_id,
        method=one.method.name,
        paper_url=one.method.paper_url,
        code_url=one.method.code_url,
        description=one.description,
        contributors=one.contributors,
        affiliation=one.affiliation,
        training_data=one.training_data,
        training_annotation=one.training_annotation,
        flickr_images=one.flickr_images,
        flickr_count=one.flickr_count,
        segmentation_classes=one.segmentation_classes,
        archive_sha256=one.archive_sha256,
        archive_bytes=one.archive_bytes,
        archive_name=one.archive_name,
        has_archive=has_archive,
        entries=[Entry.model_validate(entry, from_attributes=True) for entry in one.entries],
        warnings=[Warn(**warning) for warning in one.warnings],
        state=one.state,
        finished_at=one.finished_at,
        failure=one.failure,
        quota_returned_at=one.quota_returned_at,
        published_at=one.published_at,
        published_before=one.published_before,
        publish_when_scored=one.publish_when_scored,
        held_back_at=one.held_back_at,
        moderation_reason=one.moderation_reason,
        evaluation=evaluation,
    )
