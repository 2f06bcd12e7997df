"""Converts submissions to the API's schemas, limited to what the viewer may see."""

from typing import Any

from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.api.problems import UploadProblem
from vocboard.app.api.schemas.submissions import Archive, Method, SubmissionDetails, SubmissionSummary
from vocboard.app.api.scores import evaluation_of, scores_of
from vocboard.app.evaluations.results import visible_evaluation
from vocboard.app.submissions import queries, queue
from vocboard.app.submissions.describing import not_declared
from vocboard.app.submissions.models import Submission
from vocboard.app.web.viewer import Identity


def summary(submission: Submission) -> SubmissionSummary:
    """A submission in its owner's list."""
    return SubmissionSummary(**_common(submission), submitted_by=None)


def organisers_summary(submission: Submission) -> SubmissionSummary:
    """A submission in the organisers' list."""
    return SubmissionSummary(**_common(submission), submitted_by=submission.user.name)


def details(session: Session, submission: Submission, viewer: User | None) -> SubmissionDetails:
    """A submission as this viewer may see it."""
    organised = queries.is_organised_by(session, submission, viewer)
    managed = organised or (viewer is not None and submission.user_id == viewer.id)
    evaluation = visible_evaluation(session, submission, viewer)
    keys = queries.visible_competitions(session, submission, viewer)
    entered = {entry.competition: entry.classes for entry in submission.entries if entry.competition in keys}
    return SubmissionDetails(
        **_common(submission) | {"entered": entered},
        submitted_by=submission.user.name if managed else None,
        method=Method(
            id=submission.method.id,
            name=submission.method.name,
            description=submission.description,
            contributors=submission.contributors,
            affiliation=submission.affiliation,
            training_data=submission.training_data,
            training_annotation=submission.training_annotation,
            flickr_images=submission.flickr_images,
            flickr_image_count=submission.flickr_count,
            paper_url=submission.method.paper_url,
            code_url=submission.method.code_url,
        ),
        segmentation_classes=submission.segmentation_classes,
        queue_position=queue.queue_position(session, submission),
        finished_at=submission.finished_at,
        failure=submission.failure,
        technical_reason=submission.failure_detail if organised else None,
        held_back=submission.held_back_at is not None if managed else None,
        moderation_reason=submission.moderation_reason if managed else None,
        same_content=[copy.id for copy in queries.copies_of(session, submission)] if organised else None,
        note=submission.note if viewer is not None and submission.user_id == viewer.id else None,
        archive=Archive(name=submission.archive_name, bytes=submission.archive_bytes, sha256=submission.archive_sha256)
        if managed
        else None,
        warnings=[UploadProblem(**warning) for warning in submission.warnings] if managed else None,
        evaluation=evaluation_of(evaluation) if evaluation and managed else None,
        competitions=scores_of(evaluation, submission.challenge.decimals) if evaluation else {},
    )


def changed(session: Session, submission: Submission, identity: Identity) -> SubmissionDetails:
    """A submission after a request that created or changed it; limited to its state without the scope `read`."""
    if identity.reader is not None:
        return details(session, submission, identity.reader)
    return SubmissionDetails(
        **_common(submission),
        submitted_by=None,
        method=None,
        segmentation_classes=None,
        queue_position=queue.queue_position(session, submission),
        finished_at=submission.finished_at,
        failure=None,
        technical_reason=None,
        held_back=None,
        moderation_reason=None,
        same_content=None,
        note=None,
        archive=None,
        warnings=None,
        evaluation=None,
        competitions={},
    )


def accepted(session: Session, submission: Submission, identity: Identity) -> SubmissionDetails:
    """A submission that was just uploaded: like `changed`, but always with the validation warnings."""
    shown = changed(session, submission, identity)
    return shown.model_copy(update={"warnings": [UploadProblem(**warning) for warning in submission.warnings]})


def _common(submission: Submission) -> dict[str, Any]:
    return {
        "id": submission.id,
        "challenge": submission.challenge.slug,
        "phase": queries.phase_of(submission).key,
        "is_rehearsal": submission.is_rehearsal,
        "state": submission.state,
        "method_name": submission.method.name,
        "entered": {entry.competition: entry.classes for entry in submission.entries},
        "created_at": submission.created_at,
        "published_at": submission.published_at,
        "published_competitions": list(submission.published_competitions),
        "not_declared": not_declared(submission),
    }
