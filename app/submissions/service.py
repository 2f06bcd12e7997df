"""Operations on the user's own submissions: submit, withdraw, create anonymous links. See also `publishing`."""

import secrets
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.audit import service as audit
from vocboard.app.challenges.bans import require_not_banned
from vocboard.app.challenges.models import Challenge
from vocboard.app.challenges.phase_people import check_admitted
from vocboard.app.challenges.phases import (
    MAX_UPLOAD_DURATION,
    Phase,
    check_accepting,
    check_can_be_scored,
    require_not_archived,
)
from vocboard.app.challenges.service import is_organiser
from vocboard.app.database import now
from vocboard.app.errors import ConflictError, ForbiddenError, InvalidArchiveError
from vocboard.app.intake.report import Report
from vocboard.app.leaderboards import freezing
from vocboard.app.quotas.service import check_quota
from vocboard.app.storage.archives import IncomingArchive
from vocboard.app.submissions import queries, queue
from vocboard.app.submissions.forms import SubmissionForm, previous_names
from vocboard.app.submissions.locking import locked_own
from vocboard.app.submissions.models import FlickrImages, Method, State, Submission, SubmissionEntry, TrainingAnnotation
from vocboard.app.submissions.pruning import lock_archive
from vocboard.evaluator.stored_results.reader_version import READER_VERSION

ANONYMOUS_TOKEN_BYTES = 32


def submit(
    session: Session,
    *,
    user: User,
    challenge: Challenge,
    form: SubmissionForm,
    archive: IncomingArchive,
    report: Report,
    columns: IncomingArchive | None = None,
    began_at: datetime | None = None,
    phase_key: str | None = None,
    is_rehearsal: bool = False,
) -> Submission:
    """Accept a valid upload: count it against the quota, queue it and store its archive, atomically.

    After the commit, the caller notifies the `WorkerNotifier`.

    Args:
        form: checked, see `forms.checked`.
        archive: completely received, not yet kept.
        report: what validation found in it.
        columns: what validation has read, kept if the report says that it is complete.
        began_at: when the upload began, by default now: one that began before the phase closed counts, if it has
            taken no longer than `MAX_UPLOAD_DURATION`.
        phase_key: the phase that it is for; by default the one that was current when it began.
        is_rehearsal: whether an organiser tries the challenge out: then no leaderboard shows it, it costs no quota,
            and the phase need not be open.

    Raises:
        ForbiddenError: the person may not submit to the phase; or rehearses without organising the challenge.
        NotFoundError: there is no such phase.
        InvalidArchiveError: the report has errors.
        ForbiddenError: the person is banned from the challenge, or disabled.
        ConflictError: the phase does not accept submissions.
        LimitedError: the quota is used up; `allowed_at` is when the next submission is allowed.
    """
    if report.refuses:
        raise InvalidArchiveError(report.problems, report.groups)
    lock_submitter(session, user)
    instant = now()
    began_at = max(began_at or instant, instant - MAX_UPLOAD_DURATION)
    phase = check_may_submit(
        session, user=user, challenge=challenge, at=began_at, phase_key=phase_key, is_rehearsal=is_rehearsal
    )
    columns = columns if report.has_columns else None
    keys = [entry.competition for entry in report.entries]
    require_not_banned(session, user_id=user.id, challenge_id=challenge.id)
    if not is_rehearsal:
        check_quota(session, user=user, challenge=challenge, phase=phase, competitions=keys, now=instant)
    names = previous_names(session, user=user, challenge=challenge)
    submission = Submission(
        created_at=instant,
        queued_at=instant,
        began_at=began_at,
        challenge_id=challenge.id,
        phase_id=phase.id,
        is_rehearsal=is_rehearsal,
        publish_when_scored=form.publish and not is_rehearsal,
        user_id=user.id,
        method_id=_method(session, user, challenge, form.method_name).id,
        description=form.description,
        contributors=names.contributors if form.contributors is None else form.contributors,
        affiliation=names.affiliation if form.affiliation is None else form.affiliation,
        training_data=form.training_data,
        training_annotation=TrainingAnnotation(form.training_annotation) if form.training_annotation else None,
        flickr_images=FlickrImages(form.flickr_images) if form.flickr_images else None,
        flickr_count=form.flickr_image_hashes.count,
        flickr_hashes=form.flickr_image_hashes.packed,
        segmentation_classes=list(form.segmentation_classes) if form.segmentation_classes is not None else None,
        archive_sha256=archive.sha256,
        archive_bytes=archive.size,
        archive_name=form.archive_name,
        columns_sha256=None if columns is None else columns.sha256,
        columns_reader=None if columns is None else READER_VERSION,
        warnings=[problem.as_json() for problem in report.problems],
        entries=[
            SubmissionEntry(competition=entry.competition, position=position, classes=list(entry.classes))
            for position, entry in enumerate(report.entries)
        ],
    )
    session.add(submission)
    session.flush()
    queue.add(session, submission)
    files = [archive] if columns is None else [archive, columns]
    for sha256 in sorted(file.sha256 for file in files):  # always in the same order, to avoid deadlocks
        lock_archive(session, sha256)
    for file in files:
        file.keep()  # last, so that a rejected upload leaves no file; a row always has its file
    return submission


def lock_submitter(session: Session, user: User) -> None:
    """Lock the person, so that only one transaction at a time decides on the quota (SQLite has a single writer).

    Raises:
        ForbiddenError: the account was disabled during the upload.
    """
    query = select(User.disabled_at).where(User.id == user.id).with_for_update(key_share=True)  # as `lock_person`
    if session.scalar(query) is not None:
        raise ForbiddenError("Your account has been disabled.")


def check_may_submit(
    session: Session,
    *,
    user: User,
    challenge: Challenge,
    at: datetime,
    phase_key: str | None = None,
    is_rehearsal: bool = False,
) -> Phase:
    """Return the phase that a person's upload is for.

    Args:
        challenge: loaded in this session, with its competitions and phases. A writing transaction reads it again and
            locks it; a reading one uses it as it was loaded.
        at: when the upload began.
        phase_key: of the phase; by default the current one.

    Raises:
        ForbiddenError, NotFoundError, ConflictError: as for `submit`.
    """
    if is_rehearsal:
        if not is_organiser(session, challenge, user):
            raise ForbiddenError("Only the organisers of this challenge can rehearse it.")
        return check_can_be_scored(session, challenge, at=at, key=phase_key)
    phase = check_accepting(session, challenge, at=at, key=phase_key)
    check_admitted(session, challenge=challenge, phase=phase, user=user)
    return phase


def withdraw(session: Session, *, submission_id: uuid.UUID, user: User) -> Submission:
    """Withdraw a submission, and remove it from the leaderboards.

    If it is still queued, it no longer counts against the quota.

    Raises:
        NotFoundError, ForbiddenError: it is not the user's own submission.
        ConflictError: it has failed, was already withdrawn or disqualified, or the challenge is archived.
    """
    submission = locked_own(session, submission_id, user, what="withdraw a submission")
    require_not_archived(submission.challenge)
    if submission.state in (State.FAILED, State.WITHDRAWN, State.DISQUALIFIED):
        raise ConflictError(f"The submission is already {submission.state}.")
    if submission.state == State.QUEUED:
        submission.quota_returned_at = now()
    before = submission.state
    submission.state = State.WITHDRAWN
    submission.finished_at = submission.finished_at or now()
    submission.published_at = submission.published_before = None
    submission.anonymous_token_hash = None
    queue.remove(session, submission)
    audit.record(session, actor=user, action="submission.withdraw", subject=submission, details={"state": before})
    return submission


def create_anonymous_link(session: Session, *, submission_id: uuid.UUID, user: User) -> str:
    """Return the token of a new anonymous link to a scored submission: see `anonymous_address`. An earlier link ends.

    Raises:
        NotFoundError, ForbiddenError: it is not the user's own submission.
        ConflictError: it is not scored, or is a rehearsal.
    """
    submission = locked_own(session, submission_id, user, what="create an anonymous link to a submission")
    if submission.is_rehearsal:
        raise ConflictError("A rehearsal has no anonymous link: only the organisers see its result.")
    if submission.state != State.SCORED:
        raise ConflictError(f"Only a scored submission can have an anonymous link; this one is {submission.state}.")
    token = secrets.token_urlsafe(ANONYMOUS_TOKEN_BYTES)
    submission.anonymous_token_hash = queries.hash_of(token)
    audit.record(session, actor=user, action="submission.create_anonymous_link", subject=submission)
    return token


def anonymous_address(site: str, token: str) -> str:
    """Return the address of an anonymous link.

    Args:
        site: the public URL.
    """
    return f"{site.rstrip('/')}/anonymous/{token}"


def revoke_anonymous_link(session: Session, *, submission_id: uuid.UUID, user: User) -> Submission:
    """Revoke a submission's anonymous link. Idempotent.

    Raises:
        NotFoundError, ForbiddenError: it is not the user's own submission.
    """
    submission = locked_own(session, submission_id, user, what="revoke the anonymous link to a submission")
    if submission.anonymous_token_hash is not None:
        submission.anonymous_token_hash = None
        audit.record(session, actor=user, action="submission.revoke_anonymous_link", subject=submission)
    return submission


def _method(session: Session, user: User, challenge: Challenge, name: str) -> Method:
    """Get or create the person's method of this name; the caller holds the person's lock."""
    known = session.scalars(
        select(Method).where(Method.challenge_id == challenge.id, Method.user_id == user.id, Method.name == name)
    ).one_or_none()
    if known is not None:
        return known
    method = Method(challenge_id=challenge.id, user_id=user.id, name=name)
    session.add(method)
    session.flush()
    return method


FINAL = (State.FAILED, State.WITHDRAWN, State.DISQUALIFIED)


@dataclass(frozen=True, slots=True)
class Consequences:
    """What happens when a submission is withdrawn.

    Attributes:
        boards: competitions whose leaderboards it leaves.
        frozen: competitions whose frozen leaderboards go on showing it.
        ends_link: whether it has an anonymous link, which ends.
        returns_quota: whether its owner gets the quota back.
        has_scores: whether it has been scored.
        archive_kept_for: until its archive is deleted.
        shares_archive: whether other submissions have the same archive, which stays for them.
    """

    boards: tuple[str, ...]
    frozen: tuple[str, ...]
    ends_link: bool
    returns_quota: bool
    has_scores: bool
    archive_kept_for: timedelta
    shares_archive: bool


def consequences(
    session: Session, submission_id: uuid.UUID, user: User, *, archive_kept_for: timedelta
) -> tuple[Submission, Consequences]:
    """Return one of the user's own submissions, and what withdrawing it means now.

    Args:
        archive_kept_for: how long archives of withdrawn submissions are kept.

    Raises:
        NotFoundError, ForbiddenError: it is not the user's own submission.
        ConflictError: it cannot be withdrawn.
    """
    submission = queries.get_for(session, submission_id, user)
    if submission.user_id != user.id:
        raise ForbiddenError("Only the owner can withdraw a submission.")
    require_not_archived(submission.challenge)
    if submission.state in FINAL:
        raise ConflictError(f"The submission is already {submission.state}.")
    frozen = freezing.boards_with(session, submission, queries.phase_of(submission))
    others = select(Submission.id).where(
        Submission.archive_sha256 == submission.archive_sha256,
        Submission.id != submission.id,
        Submission.has_archive,
        Submission.state != State.WITHDRAWN,
    )
    return submission, Consequences(
        boards=tuple(key for key in submission.published_competitions if key not in frozen),
        frozen=frozen,
        ends_link=submission.anonymous_token_hash is not None,
        returns_quota=submission.state is State.QUEUED,
        has_scores=submission.state is State.SCORED,
        archive_kept_for=archive_kept_for,
        shares_archive=session.scalar(others.limit(1)) is not None,
    )
