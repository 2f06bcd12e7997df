"""Compares the submissions of each method with each other, from their replicates."""

import logging
import time
import uuid
from collections.abc import Mapping, Sequence

from celery.exceptions import SoftTimeLimitExceeded
from sqlalchemy.exc import SQLAlchemyError

from vocboard.app.challenges import queries as challenge_queries
from vocboard.app.challenges.editions import edition_of
from vocboard.app.database import Database
from vocboard.app.intake.reading import StoppedProcessError
from vocboard.app.settings import Settings
from vocboard.app.statistics import sequence_queue as queue
from vocboard.app.statistics import sequences
from vocboard.app.statistics.boards import Failure, decimals_of
from vocboard.app.statistics.sequence_queue import SequenceClaim
from vocboard.app.statistics.sequences import Member, SequenceStatistics
from vocboard.app.storage.archives import ArchiveStore, DamagedArchiveError
from vocboard.evaluator import VERSION
from vocboard.evaluator.statistics import sequence as comparison
from vocboard.evaluator.statistics.influence import influences
from vocboard.evaluator.statistics.intervals import ReplicatedScore, mean_of_defined
from vocboard.worker import leases, replicates
from vocboard.worker.columns import UnscorableError
from vocboard.worker.comparisons import TOLERANCE, shown_change
from vocboard.worker.replicates import NoReplicatesError

_log = logging.getLogger(__name__)


class _MoreUrgentError(Exception):
    """New submissions, a re-score or a leaderboard are waiting, or the turn is over."""


def compare_next(database: Database, store: ArchiveStore, settings: Settings, *, until: float) -> bool:
    """Compare the submissions of the next person; return whether there was one.

    What a turn has computed of single submissions is stored at once.

    Args:
        until: `time.monotonic` at which to stop after the current submission.

    Raises:
        OSError, SQLAlchemyError: files or the database are unavailable. The person is claimed again when the lease has
            expired.
    """
    with leases.claimed(database, queue, settings, name=_name) as claim:
        if claim is None:
            return False
        try:
            found = _compare_all(database, store, settings, claim, until=until)
        except _MoreUrgentError:
            with database.writing() as session:
                queue.give_back(session, claim)
            return True
        with database.writing() as session:
            queue.finish(session, claim, {"competitions": {key: one.as_json() for key, one in found.items()}})
    return True


def _name(claim: SequenceClaim) -> str:
    return f"submissions of person {claim.person.user_id}"


def _compare_all(
    database: Database, store: ArchiveStore, settings: Settings, claim: SequenceClaim, *, until: float
) -> Mapping[str, SequenceStatistics]:
    """Return the changes of each method with at least two submissions to a competition, as `SequenceKey.stored`."""
    person = claim.person
    with database.snapshot() as session:
        challenge = challenge_queries.challenge_with_phases(session, person.challenge_id)
        decimals, edition = decimals_of(challenge.decimals), edition_of(challenge)
        found = sequences.members(session, person.challenge_id, person.phase_key, user_id=person.user_id)
    compared = {}
    for key, sequence in found.items():
        listed = sequences.compared(sequence)
        if len(listed) < queue.MIN_SUBMISSIONS:
            continue
        known = edition.competitions.get(key.competition)
        classes = len(known.classes) if known else 0
        results = [one.result_id for one in listed]
        try:
            means = _replicated(database, store, settings, listed, until=until)
            compared[key.stored] = _statistics(results, means, decimals, classes)
        except NoReplicatesError as error:
            compared[key.stored] = SequenceStatistics(results, [], None, error.reason)
        except (DamagedArchiveError, FileNotFoundError, UnscorableError, StoppedProcessError):
            _log.exception("submissions of %s to %s cannot be compared", person, key.stored)
            compared[key.stored] = SequenceStatistics(results, [], None, Failure.UNREADABLE)
        except (OSError, SQLAlchemyError, _MoreUrgentError):
            raise
        except Exception as error:
            _log.exception("submissions of %s to %s cannot be compared", person, key.stored)
            is_too_large = isinstance(error, MemoryError | SoftTimeLimitExceeded)
            failure = Failure.TOO_LARGE if is_too_large else Failure.ERROR
            compared[key.stored] = SequenceStatistics(results, [], None, failure)
    return compared


def _replicated(
    database: Database, store: ArchiveStore, settings: Settings, listed: Sequence[Member], *, until: float
) -> list[ReplicatedScore]:
    """Return the means in one competition with their replicates, which are computed where they are missing.

    Raises:
        _MoreUrgentError: replicates are still missing.
        NoReplicatesError: there cannot be any, or they are of other scores or another ground truth.
        UnscorableError, DamagedArchiveError, StoppedProcessError, MemoryError, OSError: as for `replicates.compute`.
    """
    results = [one.result_id for one in listed]
    with database.reading() as session:
        by_result = replicates.sources(session, results)
    if len(by_result) != len(results):
        raise NoReplicatesError(Failure.GROUND_TRUTH_ELSEWHERE)
    if len({source.truth_sha256 for source in by_result.values()}) != 1:
        raise NoReplicatesError(Failure.SEVERAL_GROUND_TRUTHS)
    means = []
    for one in listed:
        source = by_result[one.result_id]
        with database.reading() as session:
            stored = replicates.load(session, source)
        if stored is None:
            if time.monotonic() > until or _must_wait(database):
                raise _MoreUrgentError
            stored = replicates.compute(database, store, settings, source)
        if abs(stored.scores.mean - one.mean) > TOLERANCE:
            raise NoReplicatesError(Failure.OTHER_EVALUATOR)
        means.append(_mean(stored))
    return means


def _mean(stored: replicates.StoredReplicates) -> ReplicatedScore:
    """Return the replicates of a mean, without those of the classes."""
    mean = mean_of_defined(stored.per_class)
    [influence] = influences(replicates.weights_of(stored.images), mean[None])
    return ReplicatedScore(stored.scores.mean, mean, influence)


def _statistics(
    results: Sequence[uuid.UUID], means: Sequence[ReplicatedScore], decimals: int, classes: int
) -> SequenceStatistics:
    """Return what is shown: nothing of differences that fewer than ten images determine, as on leaderboards."""
    try:
        found = comparison.compare_sequence(means)
    except ValueError:  # too few replicates define all means
        return SequenceStatistics(results, [None] * (len(results) - 1), None)

    steps = [shown_change(step, decimals, classes=classes) for step in found.steps]
    return SequenceStatistics(results, steps, shown_change(found.overall, decimals, classes=classes))


def _must_wait(database: Database) -> bool:
    with database.reading_autocommit() as session:
        return queue.must_wait(session, VERSION)
