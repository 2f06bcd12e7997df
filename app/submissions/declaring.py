"""Declarations that owners make after the upload."""

import uuid
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.audit import service as audit
from vocboard.app.challenges.phases import require_not_archived
from vocboard.app.errors import ConflictError, ForbiddenError
from vocboard.app.submissions import queries
from vocboard.app.submissions.declarations import needed_by, statements
from vocboard.app.submissions.forms import (
    NO_IMAGES,
    ListedImages,
    SubmissionForm,
    checked,
    unpack_hashes,
)
from vocboard.app.submissions.locking import locked_own
from vocboard.app.submissions.models import FlickrImages, State, Submission
from vocboard.evaluator.editions import Declaration


def get_to_declare(session: Session, submission_id: uuid.UUID, user: User) -> Submission:
    """Return one of the user's own submissions.

    Raises:
        NotFoundError, ForbiddenError: it is not the user's own submission.
    """
    submission = queries.get_for(session, submission_id, user)
    _require_owner(submission, user)
    return submission


def declare(session: Session, *, submission_id: uuid.UUID, user: User, changes: Mapping[str, Any]) -> Submission:
    """Add or correct the declarations of a submission; the audit log keeps the old values.

    Args:
        changes: declaration fields of `SubmissionForm`; missing ones keep their values. An empty list of images from
            flickr keeps the existing list.

    Raises:
        NotFoundError, ForbiddenError: it is not the user's own submission.
        InvalidInputError: with all errors.
        ConflictError: it has been withdrawn, or the challenge is archived.
    """
    submission = locked_own(session, submission_id, user, what="declare the training data of a submission")
    require_not_archived(submission.challenge)
    if submission.state == State.WITHDRAWN:
        raise ConflictError("The submission is withdrawn.")
    present = SubmissionForm(
        method_name=submission.method.name,
        training_data=submission.training_data,
        training_annotation=submission.training_annotation or "",
        flickr_images=submission.flickr_images or "",
    )
    form = replace(present, **changes)
    if form.flickr_images == FlickrImages.YES and form.flickr_image_hashes == NO_IMAGES:
        form = replace(form, flickr_image_hashes=ListedImages(submission.flickr_count, submission.flickr_hashes))
    known = queries.edition_of_submission(submission)
    needed = needed_by(known.competitions[entry.competition] for entry in submission.entries)
    form, after = checked(form, edition=known, needed=needed)
    before = submission.declared
    submission.training_data = after.training_data
    submission.training_annotation = after.training_annotation
    submission.flickr_images = after.flickr_images
    submission.flickr_count = after.flickr_count
    submission.flickr_hashes = form.flickr_image_hashes.packed
    if after != before:
        details = {"from": asdict(before), "to": asdict(after)}
        audit.record(session, actor=user, action="submission.declare", subject=submission, details=details)
    return submission


def not_declared(submission: Submission) -> list[Declaration]:
    """What the competitions of a submission ask for and its owner has left open."""
    known = queries.edition_of_submission(submission).competitions
    needed = needed_by(known[entry.competition] for entry in submission.entries if entry.competition in known)
    return [one.declaration for one in statements(submission.declared, needed) if one.text is None]


def listed_images(session: Session, *, submission_id: uuid.UUID, user: User) -> str:
    """Return the declared hashes of images from flickr, one per line.

    Raises:
        NotFoundError: the user may not see the submission.
        ForbiddenError: the user neither owns it nor organises its challenge.
    """
    submission = queries.get_for(session, submission_id, user)
    if not queries.is_managed_by(session, submission, user):
        raise ForbiddenError("Only the owner of a submission and the challenge's organisers can see this.")
    return unpack_hashes(submission.flickr_hashes)


def _require_owner(submission: Submission, user: User) -> None:
    if submission.user_id != user.id:
        raise ForbiddenError("Only the owner of a submission can declare its training data.")
