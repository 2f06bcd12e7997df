"""Operations of organisers on re-scores. Workers execute them; see `app.rescores.queue`."""

import time
import uuid
from dataclasses import asdict
from datetime import timedelta
from typing import Any

from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.audit import service as audit
from vocboard.app.challenges import ground_truth
from vocboard.app.challenges import queries as challenge_queries
from vocboard.app.challenges.ground_truth import current_truth
from vocboard.app.challenges.models import Challenge, GroundTruthVersion
from vocboard.app.challenges.phases import lock_to_change, require_not_archived
from vocboard.app.database import Database, now
from vocboard.app.errors import ConfirmationRequiredError, ConflictError, ForbiddenError, InvalidInputError
from vocboard.app.forms import FieldChecks
from vocboard.app.jobs import service as jobs
from vocboard.app.jobs.models import Kind
from vocboard.app.leaderboards.models import OPEN, Rescore, RescoreState
from vocboard.app.rescores import queries
from vocboard.app.rescores.changed_edition import ChangedEdition, changed_edition, reason_to_wait
from vocboard.app.rescores.queries import attention
from vocboard.app.rescores.rounds import why_unusable
from vocboard.app.submissions import queries as submission_queries
from vocboard.app.submissions import queue as live_queue
from vocboard.app.submissions.models import State, Submission

MAX_REASON_LENGTH = 2000
MAX_WAIT = timedelta(seconds=5)
LOOK_SECONDS = 0.1


def start(
    session: Session,
    *,
    challenge: Challenge,
    user: User,
    reason: str,
    ground_truth_version: int | None = None,
    edition_file: str | None = None,
    confirm_warnings: bool = False,
) -> Rescore:
    """Evaluate all submissions of a challenge again, for a report of what would change.

    Args:
        challenge: from `get_organised`.
        reason: shown on the leaderboards when the re-score is applied.
        ground_truth_version: number of the version; use the current one for a new version of the evaluator.
        edition_file: content of a changed edition file to score by, against the current ground truth of each phase.
            If nobody has submitted, it becomes current without a report. Give this or a ground truth version.
        confirm_warnings: also confirm the warnings of the ground truth version's import.

    Raises:
        InvalidInputError: there is no such version, or no reason; or the edition file is wrong, changes nothing, or
            changes what cannot change; lists all of these.
        ConflictError: the version cannot score the challenge, the challenge has a built-in edition or no ground truth
            yet, another re-score has not ended, or it is archived.
    """
    lock_to_change(session, challenge)
    challenge = challenge_queries.challenge_as_it_is(session, challenge.id)
    if (ground_truth_version is None) == (edition_file is None):
        raise InvalidInputError({"ground_truth_version": "Give either this or an edition file."})
    reason = _checked_reason(reason)
    edition = None if edition_file is None else changed_edition(session, challenge, edition_file)
    if confirm_warnings and ground_truth_version is not None:
        ground_truth.confirm(session, challenge=challenge, user=user, number=ground_truth_version)
    version = _version(session, challenge, ground_truth_version) if edition is None else edition.version
    _refuse_second(session, challenge)
    return _add(session, challenge, version, user, reason, edition=edition)


def check_correction(session: Session, *, challenge: Challenge, phase_id: uuid.UUID, reason: str) -> str | None:
    """Check the reason that an upload of ground truth comes with.

    Returns:
        The reason to start a re-score with. None if the upload starts none: there is no reason, or nobody has submitted
        to the phase, so that the version becomes current without one.

    Raises:
        InvalidInputError: the reason is too long, or has characters that are not allowed.
        ConflictError: another re-score has not ended.
    """
    checked = _checked_reason(reason, required=False)
    if not checked or not submission_queries.is_submitted_to(session, phase_id):
        return None
    _refuse_second(session, challenge)
    return checked


def start_with_upload(
    session: Session, *, challenge: Challenge, user: User, version: GroundTruthVersion, reason: str
) -> Rescore | None:
    """Start a re-score with a version that was just uploaded. Workers import the version first.

    If the import fails, or warns of what has to be confirmed, or the version cannot score the challenge, the re-score
    fails and says so. Nothing else changes.

    Args:
        challenge: locked by `add_ground_truth_version`.
        reason: as for `start`; see `check_correction`.

    Returns:
        The re-score; None if the upload starts none.

    Raises:
        InvalidInputError, ConflictError: as `check_correction`.
    """
    checked = check_correction(session, challenge=challenge, phase_id=version.phase_id, reason=reason)
    return None if checked is None else _add(session, challenge, version, user, checked)


def evaluate_again(
    session: Session, *, submission_id: uuid.UUID, user: User, reason: str = ""
) -> tuple[Submission, Rescore | None]:
    """Evaluate one submission again: a failed one at once, a scored one as a re-score with a report.

    Returns:
        The submission, and for a scored one the re-score.

    Raises:
        NotFoundError, ForbiddenError: the person does not organise its challenge.
        ConflictError: it is neither failed nor scored, is being evaluated again already, or the challenge is archived.
        InvalidInputError: the reason is too long, or has invisible characters.
    """
    submission = submission_queries.get_for(session, submission_id, user)
    if not challenge_queries.organises(session, user, submission.challenge_id):
        raise ForbiddenError("Only the organisers of this challenge can evaluate a submission again.")
    reason = _checked_reason(reason, required=False)
    # Lock the challenge first, as everywhere, to avoid deadlocks.
    lock_to_change(session, submission.challenge)
    session.refresh(submission, ["state"], with_for_update={"of": Submission})
    version = current_truth(session, submission_queries.phase_of(submission))
    if version is None:
        raise ConflictError("This challenge has no ground truth yet.")
    if submission.state is State.FAILED:
        submission.state, submission.queued_at = State.QUEUED, now()
        submission.failure = submission.failure_detail = submission.finished_at = None
        live_queue.add(session, submission)
        details = {"reason": reason}
        audit.record(session, actor=user, action="submission.evaluate_again", subject=submission, details=details)
        return submission, None
    if submission.state is not State.SCORED:
        raise ConflictError(
            f"Only a scored or failed submission can be evaluated again; this one is {submission.state}."
        )
    if (other := queries.open_rescore(session, submission.challenge_id, submission.id)) is not None:
        raise ConflictError(f"This submission is already being evaluated again: re-score {other.id}.")
    reason = reason or "Evaluated again by the organisers."
    return submission, _add(session, submission.challenge, version, user, reason, submission=submission)


def request_apply(
    session: Session, *, rescore_id: uuid.UUID, user: User, reason: str | None = None, confirm: str | None = None
) -> Rescore:
    """Request that a worker applies a re-score. Idempotent.

    Args:
        reason: in place of the one that it was started with; None to keep that.
        confirm: the challenge's short name, if its report needs attention.

    Raises:
        ConfirmationRequiredError: its report needs attention, and it is not confirmed.
        NotFoundError: it does not exist, or the user does not organise its challenge.
        InvalidInputError: the reason is empty or too long, or has characters that are not allowed.
        ConflictError: it is not ready, or the challenge is archived.
    """
    rescore = _locked(session, rescore_id, user)
    if rescore.state is RescoreState.APPLIED or rescore.apply_requested_at is not None:
        return rescore
    if rescore.state is not RescoreState.READY:
        raise ConflictError(f"Only a re-score that is ready can be applied; this one is {rescore.state}.")
    challenge = challenge_queries.challenge_as_it_is(session, rescore.challenge_id)
    require_not_archived(challenge)
    if (why := attention(rescore)) and (confirm or "").strip() != challenge.slug:
        raise ConfirmationRequiredError(f"{' '.join(why)} To apply it anyway, confirm with “{challenge.slug}”.")
    if rescore.changes_edition and (wait := reason_to_wait(session, challenge)) is not None:
        raise ConflictError(wait)
    before, rescore.reason = rescore.reason, rescore.reason if reason is None else _checked_reason(reason)
    rescore.apply_requested_at, rescore.apply_requested_by_id = now(), user.id
    details = {"reason": rescore.reason} if rescore.reason != before else {}
    audit.record(session, actor=user, action="rescore.apply", subject=rescore, details=details)
    session.flush()
    jobs.add_again(session, Kind.RESCORE, rescore.id, urgent=True)
    return rescore


def wait_until_applied(database: Database, rescore_id: uuid.UUID) -> bool:
    """Wait briefly for a worker to apply a re-score, which usually takes less than a second; return whether it has."""
    deadline = time.monotonic() + MAX_WAIT.total_seconds()
    while time.monotonic() < deadline:
        with database.reading_autocommit() as session:
            state = session.get_one(Rescore, rescore_id).state
        if state is not RescoreState.READY:
            return state is RescoreState.APPLIED
        time.sleep(LOOK_SECONDS)
    return False


def discard(session: Session, *, rescore_id: uuid.UUID, user: User) -> Rescore:
    """Discard a re-score, or cancel a running one. Idempotent.

    Raises:
        NotFoundError: it does not exist, or the user does not organise its challenge.
        ConflictError: it has ended, or is being applied.
    """
    rescore = _locked(session, rescore_id, user)
    if rescore.state is RescoreState.DISCARDED:
        return rescore
    if rescore.state not in OPEN:
        raise ConflictError(f"The re-score is already {rescore.state}.")
    if rescore.apply_requested_at is not None:
        raise ConflictError("The re-score is being applied.")
    before = rescore.state
    rescore.state, rescore.finished_at = RescoreState.DISCARDED, now()
    audit.record(session, actor=user, action="rescore.discard", subject=rescore, details={"state": before})
    return rescore


def _add(
    session: Session,
    challenge: Challenge,
    version: GroundTruthVersion,
    user: User,
    reason: str,
    *,
    submission: Submission | None = None,
    edition: ChangedEdition | None = None,
) -> Rescore:
    rescore = Rescore(
        challenge_id=challenge.id,
        ground_truth_version_id=version.id,
        submission_id=submission.id if submission else None,
        edition_version=edition.number if edition else challenge.edition_version,
        edition_changes=[asdict(change) for change in edition.changes] if edition else None,
        reason=reason,
        started_by_id=user.id,
    )
    session.add(rescore)
    session.flush()
    jobs.add(session, Kind.RESCORE, rescore.id)
    details: dict[str, Any] = {
        "challenge": str(challenge.id),
        "ground_truth_version": version.number,
        "submission": str(submission.id) if submission else None,
        "reason": reason,
    }
    action = "rescore.start" if edition is None else "rescore.start_edition"
    if edition is not None:
        details |= {"edition_version": edition.number, "changes": [asdict(change) for change in edition.changes]}
    audit.record(session, actor=user, action=action, subject=rescore, details=details)
    return rescore


def _version(session: Session, challenge: Challenge, number: int | None) -> GroundTruthVersion:
    version = None if number is None else challenge_queries.truth_version(session, challenge.id, number)
    if version is None:
        raise InvalidInputError({"ground_truth_version": f"This challenge has no version {number}."})
    if (reason := why_unusable(challenge, version)) is not None:
        raise ConflictError(reason)
    return version


def _refuse_second(session: Session, challenge: Challenge) -> None:
    if (other := queries.open_rescore(session, challenge.id)) is not None:
        raise ConflictError(
            f"Another re-score of this challenge is {other.state}. Apply or discard it first: re-score {other.id}."
        )


def _checked_reason(reason: str, *, required: bool = True) -> str:
    checks = FieldChecks()
    checked = checks.text("reason", reason, max_length=MAX_REASON_LENGTH, required=required)
    checks.finish()
    return checked


def _locked(session: Session, rescore_id: uuid.UUID, user: User) -> Rescore:
    rescore = queries.get_organised(session, rescore_id, user)
    session.refresh(rescore, ["state", "apply_requested_at"], with_for_update={"of": Rescore})
    return rescore
