"""Finishes re-scores: the report, and the switch to the results. Only for workers."""

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from vocboard.app.audit import service as audit
from vocboard.app.audit.service import Row
from vocboard.app.challenges import edition_versions
from vocboard.app.challenges import queries as challenge_queries
from vocboard.app.challenges.editions import edition_from
from vocboard.app.challenges.ground_truth import current_truth
from vocboard.app.challenges.models import Challenge, GroundTruthVersion
from vocboard.app.challenges.phases import competitions_scored_with, phase_with_id
from vocboard.app.database import now, server_time
from vocboard.app.evaluations import diagnosis_tasks
from vocboard.app.evaluations.models import Evaluation
from vocboard.app.evaluations.scorings import make_current
from vocboard.app.leaderboards import freezing
from vocboard.app.leaderboards import queries as board_queries
from vocboard.app.leaderboards.models import Rescore, RescoreItem, RescoreState
from vocboard.app.rescores import notices, queue, report, rounds
from vocboard.app.rescores.changed_edition import reason_to_wait
from vocboard.app.rescores.edition_changes import obstacles
from vocboard.app.rescores.rounds import why_unusable
from vocboard.app.rescores.summaries import summarise
from vocboard.app.submissions import notices as submission_notices
from vocboard.app.submissions import queries as submission_queries
from vocboard.app.submissions.models import State, Submission

OTHER_TRUTH = "The challenge now has another ground truth or other rules. Evaluate the submission again."
LOST = "This submission could not be evaluated again, as all others were. The organisers have been notified."


def fail_if_unusable(session: Session, rescore: Rescore) -> bool:
    """End a re-score that cannot be applied: its one submission is withdrawn or failed, or its ground truth unusable.

    Ground truth only counts until the re-score begins. If both came with one upload, it is known after the import.

    Returns:
        Whether it was ended.
    """
    if queue.has_ended_submission(session, rescore):
        _fail(session, rescore, "The submission was withdrawn or marked as failed.")
        return True
    if rescore.scoring_id is not None or rescore.changes_edition or rescore.submission_id is not None:
        return False
    challenge = challenge_queries.challenge_as_it_is(session, rescore.challenge_id)
    version = session.get_one(GroundTruthVersion, rescore.ground_truth_version_id)
    if (failure := why_unusable(challenge, version)) is None:
        return False
    _fail(session, rescore, failure)
    return True


def make_ready(session: Session, rescore: Rescore) -> None:
    """Store the report of a re-score that `queue.is_finished`.

    A changed edition that nobody has submitted under becomes current at once.
    """
    challenge = challenge_queries.challenge_as_it_is(session, rescore.challenge_id)
    rescore.report_revision = board_queries.revision_number(session, challenge.id)
    rescore.report = report.compute(session, rescore, challenge)
    rescore.report_summary = summarise(rescore.report)
    rescore.state = RescoreState.READY
    session.flush()
    if not rescore.changes_edition:
        return
    # Nobody can submit from here on, because that locks the challenge, too.
    challenge_queries.lock_challenge(session, challenge.id)
    if not submission_queries.has_any_submission(session, challenge.id):
        rescore.apply_requested_at, rescore.apply_requested_by_id = now(), rescore.started_by_id
        apply(session, rescore)


def apply(session: Session, rescore: Rescore) -> bool:
    """Apply a re-score in this transaction; False if it has to wait.

    It waits for submissions that were scored in the meantime, and a changed edition for leaderboards that are about to
    freeze; the latter has to be asked for again. It fails if the challenge has changed so that the results
    no longer match.

    Args:
        rescore: a locked re-score that is ready and to be applied.
    """
    # From here on, no submission of the challenge can be marked as scored, which needs the same lock.
    challenge_queries.lock_challenge(session, rescore.challenge_id)
    if not queue.is_finished(session, rescore):
        queue.add_late(session, rescore)
        return False
    challenge = challenge_queries.challenge_as_it_is(session, rescore.challenge_id)
    freezing.freeze_due(session, challenge)  # frozen leaderboards keep what they show
    if (failure := _obstacle(session, rescore, challenge)) is not None:
        _fail(session, rescore, failure)
        return True
    if rescore.changes_edition and reason_to_wait(session, challenge) is not None:
        rescore.apply_requested_at = rescore.apply_requested_by_id = None
        return False
    rounds.add_missing(session, rescore)
    rescore.report = report.compute(session, rescore, challenge)
    rescore.report_summary = summarise(rescore.report)
    actor = None if rescore.apply_requested_by_id is None else Row("users", rescore.apply_requested_by_id)
    if rescore.submission_id is None:
        for phase_id, scoring in rounds.by_phase(session, rescore).items():
            make_current(session, challenge=challenge, scoring=scoring, actor=actor, phase_id=phase_id)
        if rescore.changes_edition:
            edition_versions.make_current(session, challenge, rescore.edition_version)
    else:
        _switch_one(session, rescore)
    _give_up_lost(session, rescore)
    # Leaderboards show the version of the last re-score, whatever the clocks of the machines that applied them say.
    rescore.state, rescore.finished_at = RescoreState.APPLIED, server_time(session)
    details = {
        "challenge": str(challenge.id),
        "reason": rescore.reason,
        "changes": len(rescore.report["changes"]),
        "failures": len(rescore.report["failures"]),
    }
    action = "rescore.applied"
    if rescore.changes_edition:
        action, details = "rescore.applied_edition", details | {"edition_version": rescore.edition_version}
    audit.record(session, actor=actor, action=action, subject=rescore, details=details)
    notices.corrected(session, rescore, challenge)
    return True


def _fail(session: Session, rescore: Rescore, failure: str) -> None:
    rescore.state, rescore.finished_at, rescore.failure = RescoreState.FAILED, now(), failure
    audit.record(session, actor=None, action="rescore.fail", subject=rescore, details={"reason": failure})


def _obstacle(session: Session, rescore: Rescore, challenge: Challenge) -> str | None:
    if rescore.submission_id is not None:
        submission = session.get_one(Submission, rescore.submission_id)
        current = current_truth(session, phase_with_id(challenge, submission.phase_id))
        is_same = current is not None and current.id == rescore.ground_truth_version_id
        return None if is_same and rescore.edition_version == challenge.edition_version else OTHER_TRUTH
    if rescore.changes_edition:
        file = edition_versions.file_of(session, challenge.id, rescore.edition_version)
        return " ".join(obstacles(session, challenge, edition_from(challenge.edition, file))) or None
    version = session.get_one(GroundTruthVersion, rescore.ground_truth_version_id)
    known = set(version.competitions or ())
    if missing := [key for key in competitions_scored_with(challenge, version.phase_id) if key not in known]:
        return f"Its ground truth cannot score {', '.join(missing)}, which the challenge has by now."
    return None


def _switch_one(session: Session, rescore: Rescore) -> None:
    evaluation = select(Evaluation.id).where(
        Evaluation.submission_id == rescore.submission_id, Evaluation.scoring_id == rescore.scoring_id
    )
    session.execute(
        update(Submission)
        .where(Submission.id == rescore.submission_id)
        .values(current_evaluation_id=evaluation.scalar_subquery())
        .execution_options(synchronize_session=False)
    )
    diagnosis_tasks.add(session, Evaluation.submission_id == rescore.submission_id)


def _give_up_lost(session: Session, rescore: Rescore) -> None:
    """Mark submissions that could not be evaluated as failed."""
    lost = (
        select(Submission, RescoreItem.failure, RescoreItem.failure_detail)
        .join(RescoreItem, RescoreItem.submission_id == Submission.id)
        .where(RescoreItem.rescore_id == rescore.id, RescoreItem.failure.is_not(None), Submission.state == State.SCORED)
    )
    for submission, failure, detail in session.execute(lost).all():
        submission.state, submission.failure = State.FAILED, f"{LOST} {failure}"
        submission.failure_detail = f"{failure}\n{detail or ''}"
        submission.published_at = submission.anonymous_token_hash = None
        submission.quota_returned_at = submission.finished_at = now()
        details = {"rescore": str(rescore.id), "reason": failure}
        audit.record(session, actor=None, action="submission.fail", subject=submission, details=details)
        session.flush()
        submission_notices.failed(session, [submission.id])
