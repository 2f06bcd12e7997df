"""Compares the submissions of each method with each other, from their replicates."""

import logging
import time
import uuid
from collections.abc import Mapping, Sequence
from datetime import timedelta

from vocboard.app.challenges import queries as challenge_queries
from vocboard.app.challenges.editions import edition_of
from vocboard.app.jobs import service as jobs
from vocboard.app.jobs.service import Claim
from vocboard.app.leaderboards import sequence_queue as queue
from vocboard.app.leaderboards import sequences
from vocboard.app.leaderboards.sequence_queue import Entrant
from vocboard.app.leaderboards.sequences import Member, SequenceStatistics
from vocboard.app.leaderboards.statistics import Failure, decimals_of
from vocboard.evaluator.statistics import sequence as comparison
from vocboard.evaluator.statistics.influence import influences
from vocboard.evaluator.statistics.intervals import ReplicatedScore, mean_of_defined
from vocboard.worker import replicates
from vocboard.worker.comparisons import TOLERANCE, shown_change
from vocboard.worker.failure_reasons import lasting
from vocboard.worker.process import MoreUrgentError, Process
from vocboard.worker.replicates import NoReplicatesError

TURN = timedelta(seconds=3)  # what is computed between turns has to be read again

_log = logging.getLogger(__name__)


def run(process: Process, claim: Claim) -> None:
    """Compare the submissions of the people of a challenge, one after the other.

    What is computed of single submissions is stored immediately.

    Raises:
        MoreUrgentError: a more urgent job is due, or the turn is over.
        OSError, SQLAlchemyError: files or the database are unavailable.
    """
    until = time.monotonic() + TURN.total_seconds()
    while True:
        with process.database.reading() as session:
            due = queue.next_due(session, claim.key)
        if due is None:
            break
        found = _compare_all(process, claim, due.entrant, until=until)
        with process.database.writing() as session:
            jobs.require_held(session, claim)
            queue.store(session, due, {"competitions": {key: one.as_json() for key, one in found.items()}})
        if time.monotonic() > until:
            raise MoreUrgentError
    with process.database.writing() as session:
        jobs.finish(session, claim)


def give_up(process: Process, claim: Claim) -> None:
    """Record that the next entrant's submissions cannot be compared; the sweep adds a job for the others."""
    with process.database.writing() as session:
        queue.give_up(session, claim.key)
        jobs.finish(session, claim)


def _compare_all(process: Process, claim: Claim, entrant: Entrant, *, until: float) -> Mapping[str, SequenceStatistics]:
    """Return the changes of each method with at least two submissions to a competition, as `SequenceKey.stored`."""
    with process.database.snapshot() as session:
        challenge = challenge_queries.challenge_with_phases(session, entrant.challenge_id)
        decimals, edition = decimals_of(challenge.decimals), edition_of(challenge)
        found = sequences.members(session, entrant.phase_id, team_id=entrant.team_id)
    compared = {}
    for key, sequence in found.items():
        listed = sequences.compared(sequence)
        if len(listed) < queue.MIN_SUBMISSIONS:
            continue
        known = edition.competitions.get(key.competition)
        classes = len(known.classes) if known else 0
        results = [one.result_id for one in listed]
        try:
            means = _replicated(process, claim, listed, until=until)
            compared[key.stored] = _statistics(results, means, decimals, classes)
        except NoReplicatesError as error:
            compared[key.stored] = SequenceStatistics(results, [], None, error.reason)
        except Exception as error:
            if (failure := lasting(error)) is None:
                raise
            _log.exception("submissions of %s to %s cannot be compared", entrant, key.stored)
            compared[key.stored] = SequenceStatistics(results, [], None, failure)
    return compared


def _replicated(process: Process, claim: Claim, listed: Sequence[Member], *, until: float) -> list[ReplicatedScore]:
    """Return the means in one competition with their replicates, which are computed where they are missing.

    Raises:
        MoreUrgentError: replicates are still missing.
        NoReplicatesError: there cannot be any, or they are of other scores or another ground truth.
        UnscorableError, DamagedArchiveError, StoppedProcessError, MemoryError, OSError: as for `replicates.compute`.
    """
    with process.database.reading() as session:
        by_result = replicates.comparable_sources(session, [one.result_id for one in listed])
    means = []
    for one in listed:
        source = by_result[one.result_id]
        with process.database.reading() as session:
            stored = replicates.load(session, source)
        if stored is None:
            if time.monotonic() > until or process.must_give_way(claim):
                raise MoreUrgentError
            stored = replicates.compute(process, source)
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
