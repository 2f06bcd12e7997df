"""Changes by owners after the upload: the description of a submission and its method, and its declarations."""

import uuid
from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.audit import service as audit
from vocboard.app.challenges.phases import require_not_archived
from vocboard.app.errors import ConflictError, ForbiddenError, InvalidInputError
from vocboard.app.forms import FieldChecks, checked_link, no_such_field
from vocboard.app.participating.locking import locked_own, require_own
from vocboard.app.submissions import queries
from vocboard.app.submissions.forms import (
    MAX_AFFILIATION_LENGTH,
    MAX_CONTRIBUTORS_LENGTH,
    MAX_DESCRIPTION_LENGTH,
    MAX_METHOD_NAME_LENGTH,
    NO_IMAGES,
    ListedImages,
    SubmissionForm,
    checked,
    declarations_of,
    needed_by,
    unpack_hashes,
)
from vocboard.app.submissions.models import FlickrImages, Method, State, Submission
from vocboard.evaluator.declarations import FLICKR_IMAGES, Declaration

MAX_NOTE_LENGTH = 10_000
FIELDS = ("method_name", "method_description", "contributors", "affiliation", "paper_url", "code_url", "note")


def get_to_change(session: Session, submission_id: uuid.UUID, user: User) -> Submission:
    """Return one of the user's own submissions.

    Raises:
        NotFoundError, ForbiddenError: it is not the user's own submission.
    """
    submission = queries.get_for(session, submission_id, user)
    require_own(session, submission, user, what="change a submission")
    return submission


def description_of(submission: Submission) -> dict[str, str]:
    """Return the current values of `FIELDS`."""
    return {
        "method_name": submission.method.name,
        "method_description": submission.description,
        "contributors": submission.contributors,
        "affiliation": submission.affiliation,
        "paper_url": submission.method.paper_url,
        "code_url": submission.method.code_url,
        "note": submission.note,
    }


def describe(session: Session, *, submission_id: uuid.UUID, user: User, changes: Mapping[str, str]) -> Submission:
    """Change what is said about a submission; the audit log keeps the old values, but none of the private note.

    Frozen leaderboards keep what they show. Name and links are those of the method, so of all of its versions.

    Args:
        changes: values of some of `FIELDS`.

    Raises:
        NotFoundError, ForbiddenError: it is not the user's own submission.
        InvalidInputError: with all errors.
        ConflictError: it has been withdrawn, or the challenge is archived.
    """
    submission = locked_own(session, submission_id, user, what="describe a submission", with_person=True)
    require_not_archived(submission.challenge)
    if submission.state == State.WITHDRAWN:
        raise ConflictError("The submission is withdrawn.")
    session.refresh(submission, ["description", "contributors", "affiliation", "note"])
    session.refresh(submission.method, ["name", "paper_url", "code_url"], with_for_update=True)
    before = description_of(submission)
    after = _checked({**before, **changes})
    if after["method_name"] != before["method_name"]:
        _rename(session, submission.method, after["method_name"])
    submission.description = after["method_description"]
    submission.contributors = after["contributors"]
    submission.affiliation = after["affiliation"]
    submission.method.paper_url = after["paper_url"]
    submission.method.code_url = after["code_url"]
    submission.note = after["note"]
    details: dict[str, Any] = {
        name: {"from": before[name], "to": after[name]}
        for name in FIELDS
        if name != "note" and before[name] != after[name]
    }
    if details:
        audit.record(session, actor=user, action="submission.describe", subject=submission, details=details)
    return submission


def _rename(session: Session, method: Method, name: str) -> None:
    try:  # another member of the team may give this name to another method at the same moment
        with session.begin_nested():
            method.name = name
            session.flush()
    except IntegrityError:
        raise InvalidInputError({"method_name": "You have another method of this name in the challenge."}) from None


def _checked(given: Mapping[str, str]) -> dict[str, str]:
    checks = FieldChecks()
    found = {
        "method_name": checks.line(
            "method_name", given["method_name"], max_length=MAX_METHOD_NAME_LENGTH, required=True
        ),
        "method_description": checks.text(
            "method_description", given["method_description"], max_length=MAX_DESCRIPTION_LENGTH
        ),
        "contributors": checks.line("contributors", given["contributors"], max_length=MAX_CONTRIBUTORS_LENGTH),
        "affiliation": checks.line("affiliation", given["affiliation"], max_length=MAX_AFFILIATION_LENGTH),
        "paper_url": checked_link(checks, "paper_url", given["paper_url"]),
        "code_url": checked_link(checks, "code_url", given["code_url"]),
        "note": checks.text("note", given["note"], max_length=MAX_NOTE_LENGTH),
    }
    checks.finish()
    return found


def declare(session: Session, *, submission_id: uuid.UUID, user: User, changes: Mapping[str, Any]) -> Submission:
    """Add or correct the declarations of a submission; the audit log keeps the old values.

    Args:
        changes: values by name, and `flickr_image_hashes`; missing ones keep their values, and empty ones are removed.
            An empty list of images from flickr keeps the existing list.

    Raises:
        NotFoundError, ForbiddenError: it is not the user's own submission.
        InvalidInputError: with all errors.
        ConflictError: it has been withdrawn, or the challenge is archived.
    """
    submission = locked_own(session, submission_id, user, what="declare the training data of a submission")
    require_not_archived(submission.challenge)
    if submission.state == State.WITHDRAWN:
        raise ConflictError("The submission is withdrawn.")
    session.refresh(submission, ["declarations", "flickr_count"])
    edition = queries.edition_of_submission(submission)
    known, given = declarations_of(edition), dict(changes)
    listed = given.pop("flickr_image_hashes", NO_IMAGES)
    _require_known(given, known)
    declarations = {**submission.declarations, **given}
    if declarations.get(FLICKR_IMAGES.name) == FlickrImages.YES and listed == NO_IMAGES:
        listed = ListedImages(submission.flickr_count, submission.flickr_hashes)
    form = SubmissionForm(method_name=submission.method.name, declarations=declarations, flickr_image_hashes=listed)
    needed = needed_by(edition.competitions[entry.competition] for entry in submission.entries)
    form, _ = checked(form, edition=edition, needed=needed)
    before = submission.declared
    # What an earlier version of the edition asked for stays.
    others = {name: value for name, value in submission.declarations.items() if name not in known}
    submission.declarations = {**others, **form.declarations}
    submission.flickr_count = form.flickr_image_hashes.count
    submission.flickr_hashes = form.flickr_image_hashes.packed
    if submission.declared != before:
        details = {"from": before.as_json(), "to": submission.declared.as_json()}
        audit.record(session, actor=user, action="submission.declare", subject=submission, details=details)
    return submission


def _require_known(given: Mapping[str, Any], known: Collection[str]) -> None:
    wrong = {
        name: "Send text or a number."
        for name, value in given.items()
        if not isinstance(value, str | int | float) or isinstance(value, bool)
    }
    fields = (*known, *FIELDS, "flickr_image_hashes")
    wrong |= {name: no_such_field(name, fields) for name in given if name not in known}
    if wrong:
        raise InvalidInputError(wrong)


def not_declared(submission: Submission) -> list[Declaration]:
    """Return what the competitions of a submission ask for and its owner has left open."""
    known = queries.edition_of_submission(submission).competitions
    needed = needed_by(known[entry.competition] for entry in submission.entries if entry.competition in known)
    return [need.declaration for need in needed.values() if submission.declared.value(need.declaration) is None]


def asked_by_others_alone(submission: Submission, shown: Collection[str]) -> frozenset[str]:
    """Return the names of declarations that competitions of a submission ask for, but none of those that are shown."""
    known = queries.edition_of_submission(submission).competitions
    entered = [entry.competition for entry in submission.entries if entry.competition in known]
    of_all, of_shown = (needed_by(known[key] for key in keys if key in entered) for keys in (entered, shown))
    return frozenset(of_all.keys() - of_shown.keys())


def listed_images(session: Session, *, submission_id: uuid.UUID, user: User) -> str:
    """Return the declared hashes of images from flickr, one per line.

    Raises:
        NotFoundError: the user may not see the submission.
        ForbiddenError: the user neither owns it nor organises its challenge.
    """
    submission = queries.get_for(session, submission_id, user)
    if not queries.access_of(session, submission, user).is_managed:
        raise ForbiddenError("Only the owner of a submission and the challenge's organisers can see this.")
    return unpack_hashes(submission.flickr_hashes)
