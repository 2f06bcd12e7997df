"""Diagnoses the errors of evaluated submissions, from their columns and the ground truth."""

import logging
import time

from celery.exceptions import SoftTimeLimitExceeded
from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError

from vocboard.app.challenges.models import Challenge, ChallengePhase, Detail
from vocboard.app.challenges.queries import is_phase_of_submission, rule_of_submissions_phase
from vocboard.app.database import Database
from vocboard.app.evaluations import service as evaluations
from vocboard.app.evaluations.diagnosis_failures import DiagnosisFailure
from vocboard.app.evaluations.models import CompetitionResult, Evaluation
from vocboard.app.evaluations.service import Diagnosis
from vocboard.app.intake.reading import StoppedProcessError
from vocboard.app.settings import Settings
from vocboard.app.statistics import diagnosis_queue as queue
from vocboard.app.statistics.diagnosis_queue import DiagnosisClaim
from vocboard.app.storage.archives import ArchiveStore, DamagedArchiveError
from vocboard.app.submissions.models import Submission
from vocboard.worker import columns, ground_truth_store, leases, replicates
from vocboard.worker.columns import UnscorableError
from vocboard.worker.failure_reasons import technical_reason
from vocboard.worker.ground_truth_directory import GroundTruthDirectory

_log = logging.getLogger(__name__)


def diagnose_next(database: Database, store: ArchiveStore, settings: Settings) -> bool:
    """Diagnose the next evaluation; return whether there was one.

    Raises:
        OSError, SQLAlchemyError: files or the database are unavailable. The evaluation is claimed again when its lease
            has expired.
    """
    with leases.claimed(database, queue, settings, name=_name) as claim:
        if claim is None:
            return False
        started = time.monotonic()
        try:
            found = _diagnose(database, store, settings, claim)
            noise_key = GroundTruthDirectory(settings).noise_key()
        except _MissingFileError as error:
            _log.error("evaluation %s waits: the ground truth cannot be read: %s", claim.evaluation_id, error)
            with database.writing() as session:
                queue.hold(session, claim)
            return True
        except Exception as error:
            if (reason := _reason(error)) is None:
                raise
            _log.exception("evaluation %s cannot be diagnosed", claim.evaluation_id)
            with database.writing() as session:
                queue.fail(session, claim, reason, detail=technical_reason(error))
            return True
        with database.writing() as session:
            if queue.is_held(session, claim):
                evaluations.store_diagnoses(session, claim.evaluation_id, found, noise_key=noise_key)
                queue.finish(session, claim)
    _log.info("evaluation %s: diagnosed in %.1f s", claim.evaluation_id, time.monotonic() - started)
    return True


def _name(claim: DiagnosisClaim) -> str:
    return f"diagnosis of evaluation {claim.evaluation_id}"


class _NoGroundTruthError(Exception):
    """The ground truth is not on this server."""


class _MissingFileError(Exception):
    """The file of the ground truth is not where it should be; the message is its path."""


def _reason(error: Exception) -> DiagnosisFailure | None:
    """Return why an evaluation cannot be diagnosed; None for what may pass by itself."""
    if isinstance(error, _NoGroundTruthError):
        return DiagnosisFailure.NO_GROUND_TRUTH
    if isinstance(error, DamagedArchiveError | FileNotFoundError | UnscorableError | StoppedProcessError):
        return DiagnosisFailure.UNREADABLE
    if isinstance(error, MemoryError | SoftTimeLimitExceeded):
        return DiagnosisFailure.TOO_LARGE
    return None if isinstance(error, OSError | SQLAlchemyError) else DiagnosisFailure.ERROR


def _diagnose(
    database: Database, store: ArchiveStore, settings: Settings, claim: DiagnosisClaim
) -> dict[str, Diagnosis]:
    """Return the diagnosis of each competition.

    Raises:
        _NoGroundTruthError: it is on another server.
        _MissingFileError: it is away, and can be restored.
        UnscorableError, DamagedArchiveError, StoppedProcessError, MemoryError, OSError: as for `columns.diagnose`.
    """
    with database.reading() as session:
        of_this = CompetitionResult.evaluation_id == claim.evaluation_id
        results = list(session.scalars(select(CompetitionResult.id).where(of_this)))
        sources = replicates.sources(session, results)
        level = session.scalar(
            select(rule_of_submissions_phase("detail"))
            .select_from(Evaluation)
            .join(Submission, Submission.id == Evaluation.submission_id)
            .join(Challenge, Challenge.id == Submission.challenge_id)
            .outerjoin(ChallengePhase, is_phase_of_submission())
            .where(Evaluation.id == claim.evaluation_id)
        )
    if not results:
        return {}
    if not sources:
        raise _NoGroundTruthError
    source = next(iter(sources.values()))
    path = ground_truth_store.path_of(settings, source.truth_sha256)
    if not path.is_file():
        raise _MissingFileError(path)
    found = columns.diagnose(
        source.uploaded,
        store,
        source.edition,
        ground_truth_store.load(path),
        with_boundaries=level is Detail.EVERYTHING,
        memory_limit_bytes=settings.evaluation_memory_limit_bytes,
    )
    competitions = {each.competition for each in sources.values()}
    return {key: diagnosis for key, diagnosis in found.items() if key in competitions}
