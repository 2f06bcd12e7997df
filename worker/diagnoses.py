"""Diagnoses the errors of evaluated submissions, from their columns and the ground truth."""

import logging
import time
import uuid

from sqlalchemy import select

from vocboard.app.challenges.models import ChallengePhase, Detail
from vocboard.app.evaluations import diagnosis_tasks
from vocboard.app.evaluations import service as evaluations
from vocboard.app.evaluations.diagnosis_failures import DiagnosisFailure
from vocboard.app.evaluations.models import CompetitionResult, Evaluation
from vocboard.app.evaluations.service import Diagnosis
from vocboard.app.jobs import service as jobs
from vocboard.app.jobs.service import Claim
from vocboard.app.submissions.models import Submission
from vocboard.worker import columns, ground_truth_files, replicates
from vocboard.worker.failure_reasons import lasting, technical_reason
from vocboard.worker.ground_truth_directory import GroundTruthDirectory
from vocboard.worker.process import Process, UnreadableTruthError

_log = logging.getLogger(__name__)


def run(process: Process, claim: Claim) -> None:
    """Diagnose an evaluation.

    Raises:
        OSError, SQLAlchemyError: files or the database are unavailable.
    """
    started = time.monotonic()
    with process.database.reading() as session:
        is_wanted = diagnosis_tasks.is_wanted(session, claim.key)
    try:
        found = _diagnose(process, claim.key) if is_wanted else {}
        noise_key = GroundTruthDirectory(process.settings).noise_key()
    except Exception as error:
        if (failure := lasting(error)) is None:
            raise
        no_truth = isinstance(error, _NoGroundTruthError)
        reason = DiagnosisFailure.NO_GROUND_TRUTH if no_truth else DiagnosisFailure(failure.value)
        _log.exception("evaluation %s cannot be diagnosed", claim.key)
        with process.database.writing() as session:
            jobs.finish(session, claim, failure=reason, detail=technical_reason(error))
        return
    with process.database.writing() as session:
        jobs.require_held(session, claim)
        evaluations.store_diagnoses(session, claim.key, found, noise_key=noise_key)
        jobs.finish(session, claim)
    _log.info("evaluation %s: diagnosed in %.1f s", claim.key, time.monotonic() - started)


def give_up(process: Process, claim: Claim) -> None:
    """Record that diagnosing an evaluation has stopped workers too often."""
    with process.database.writing() as session:
        jobs.finish(session, claim, failure=DiagnosisFailure.INTERRUPTED)


class _NoGroundTruthError(Exception):
    """The ground truth is not on this server."""


def _diagnose(process: Process, evaluation_id: uuid.UUID) -> dict[str, Diagnosis]:
    """Return the diagnosis of each competition.

    Raises:
        _NoGroundTruthError: it is on another server.
        UnreadableTruthError: it is away, or its place is, and can be restored.
        UnscorableError, DamagedArchiveError, StoppedProcessError, MemoryError, OSError: as for `columns.diagnose`.
    """
    with process.database.reading() as session:
        of_this = CompetitionResult.evaluation_id == evaluation_id
        results = list(session.scalars(select(CompetitionResult.id).where(of_this)))
        sources = replicates.sources(session, results)
        level = session.scalar(
            select(ChallengePhase.detail)
            .join(Submission, Submission.phase_id == ChallengePhase.id)
            .join(Evaluation, Evaluation.submission_id == Submission.id)
            .where(Evaluation.id == evaluation_id)
        )
    if not results:
        return {}
    if not sources:
        raise _NoGroundTruthError
    source = next(iter(sources.values()))
    try:
        truth = ground_truth_files.load(process.settings, source.truth_sha256)
    except OSError as error:
        raise UnreadableTruthError(error) from None
    with_boundaries = level is Detail.EVERYTHING
    found = columns.diagnose(source.uploaded, process, source.edition, truth, with_boundaries=with_boundaries)
    competitions = {each.competition for each in sources.values()}
    return {key: diagnosis for key, diagnosis in found.items() if key in competitions}
