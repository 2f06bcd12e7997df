"""Keeps the statistics of leaderboards up to date: replicates of each result, then what the leaderboard shows.

The work is done in turns. What a turn has computed of single results is stored at once, so that a worker that is
killed, or interrupted by new submissions, loses no more than one result.
"""

import logging
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import delete
from sqlalchemy.orm import Session

from vocboard.app.challenges import queries as challenge_queries
from vocboard.app.challenges.phases import Phase, phases_of
from vocboard.app.database import now, server_time
from vocboard.app.jobs import service as jobs
from vocboard.app.jobs.service import Claim
from vocboard.app.leaderboards import statistics as boards
from vocboard.app.leaderboards import statistics_queue as queue
from vocboard.app.leaderboards.entries import Entry
from vocboard.app.leaderboards.models import BoardAgreement, BoardDifferences, BoardStatistics
from vocboard.app.leaderboards.queries import revision_number
from vocboard.app.leaderboards.service import StatisticsBasis, statistics_basis
from vocboard.app.leaderboards.statistics import Failure, Statistics
from vocboard.evaluator.evidence.evidence import Evidence
from vocboard.worker import image_sets, replicates
from vocboard.worker.combinations import with_combinations
from vocboard.worker.comparisons import Computed, statistics_of
from vocboard.worker.failure_reasons import lasting, technical_reason
from vocboard.worker.process import MoreUrgentError, Process
from vocboard.worker.replicates import NoReplicatesError, Source

TURN = timedelta(seconds=3)  # what is computed between turns has to be read again

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Board:
    """A leaderboard whose statistics are out of date.

    Attributes:
        digest: of what it shows; None if it shows no statistics, so that those stored are removed.
        failure: why there have been none so far, if that is stored for what it shows and need not be stored again.
    """

    phase: Phase
    basis: StatisticsBasis
    digest: str | None
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class _Turn:
    """Work on a leaderboard for some seconds.

    Attributes:
        until: `time.monotonic` at which to stop after the current result.
    """

    process: Process
    claim: Claim
    board: _Board
    until: float

    def give_way(self) -> None:
        """Raise `MoreUrgentError` if a more urgent job is due."""
        if self.process.must_give_way(self.claim):
            raise MoreUrgentError


# What another change of the challenge may have removed; to find out costs next to nothing.
_MAY_PASS = frozenset({Failure.GROUND_TRUTH_ELSEWHERE, Failure.SEVERAL_GROUND_TRUTHS})


def run(process: Process, claim: Claim) -> None:
    """Bring the statistics of a challenge up to date.

    Raises:
        MoreUrgentError: a more urgent job is due, or the turn is over.
        OSError, SQLAlchemyError: files or the database are unavailable.
    """
    _run(process, claim, is_given_up=False)


def give_up(process: Process, claim: Claim) -> None:
    """Record that computing what is out of date has stopped workers too often."""
    _run(process, claim, is_given_up=True)


def _run(process: Process, claim: Claim, *, is_given_up: bool) -> None:
    until = time.monotonic() + TURN.total_seconds()
    with process.database.snapshot() as session:
        revision = revision_number(session, claim.key)
        found = _outdated(session, claim.key) if revision else []
    failures = []
    for board in found:
        turn = _Turn(process, claim, board, until)
        if (reason := _update(turn, is_given_up=is_given_up)) is not None:
            failures.append(f"{board.phase.key} {board.basis.competition.key}: {reason}")
    if revision and not is_given_up:
        image_sets.update(process.database, claim)
    with process.database.writing() as session:
        failure = "\n".join(failures) or None
        has_computed = failure is not None or any(board.failure is None for board in found)
        queue.finish(session, claim, revision=revision, has_computed=has_computed, failure=failure)


def _outdated(session: Session, challenge_id: uuid.UUID) -> list[_Board]:
    """Return the leaderboards of a challenge whose stored statistics are not those of what they show."""
    challenge = challenge_queries.challenge_with_phases(session, challenge_id)
    at = now()
    found = []
    for phase in phases_of(challenge):
        for key in phase.competitions:
            basis = statistics_basis(session, challenge, phase, key, at=at)
            if basis is None:
                continue
            stored = boards.find(session, phase.id, key, basis.frozen_at)
            digest = None
            if basis.is_wanted:
                results = (entry.result_id for entry in basis.entries)
                digest = boards.digest_of(results, boards.decimals_of(basis.decimals))
            if stored is None or stored.methods_sha256 != digest:
                if stored is not None or digest is not None:
                    found.append(_Board(phase, basis, digest))
            elif (failure := Statistics.from_json(stored.content).failure) is not None:
                requested = challenge.statistics_requested_at
                if requested is not None and requested > stored.created_at:
                    found.append(_Board(phase, basis, digest))
                elif failure in _MAY_PASS or stored.version < queue.VERSION:
                    found.append(_Board(phase, basis, digest, failure))
            elif stored.version < queue.VERSION and basis.frozen_at is None:  # frozen ones never change
                found.append(_Board(phase, basis, digest))
    return found


def _update(turn: _Turn, *, is_given_up: bool) -> str | None:
    """Compute the statistics of one leaderboard and store them, or why there are none.

    Returns:
        For the operator: the error that prevented it, if it was not expected.

    Raises:
        MoreUrgentError: something else has to be done first; the replicates computed so far are stored.
        OSError, SQLAlchemyError: as for `update_next`.
    """
    board, computed, unexpected = turn.board, None, None
    decimals = boards.decimals_of(board.basis.decimals)
    if board.digest is not None:
        started = time.monotonic()
        try:
            if is_given_up:
                raise NoReplicatesError(board.failure or Failure.INTERRUPTED)
            with turn.process.database.reading() as session:
                by_result = replicates.comparable_sources(session, [entry.result_id for entry in board.basis.entries])
            _compute_replicates(turn, by_result)
            computed = _compute(turn, by_result)
        except NoReplicatesError as error:
            _log.info("no statistics of %s: %s", board.basis.competition.key, error.reason)
            computed = Computed.none(decimals, error.reason)
        except Exception as error:
            if (failure := lasting(error)) is None:
                raise
            _log.exception("no statistics of %s", board.basis.competition.key)
            computed, unexpected = Computed.none(decimals, failure), technical_reason(error)
        _log.info(
            "statistics of %s, %d methods: %.1f s",
            board.basis.competition.key,
            len(board.basis.entries),
            time.monotonic() - started,
        )
        if board.failure is not None and computed.statistics.failure is board.failure:
            return unexpected  # storing it again would be a change, after which it would be tried again
    with turn.process.database.writing() as session:
        jobs.require_held(session, turn.claim)
        _store(session, turn.claim.key, board, computed)
    return unexpected


def _compute_replicates(turn: _Turn, by_result: Mapping[uuid.UUID, Source]) -> None:
    """Compute missing replicates.

    Raises:
        MoreUrgentError: some are still missing.
        NoReplicatesError: there cannot be any.
    """
    process = turn.process
    for source in by_result.values():
        with process.database.reading() as session:
            is_known = replicates.load(session, source) is not None
        if is_known:
            continue
        if time.monotonic() > turn.until:
            raise MoreUrgentError
        turn.give_way()
        replicates.compute(process, source)


def _compute(turn: _Turn, by_result: Mapping[uuid.UUID, Source]) -> Computed:
    process = turn.process

    def source_of(entry: Entry) -> Source:
        assert entry.result_id is not None  # noqa: S101  # the digest was computed from all of them
        turn.give_way()
        return by_result[entry.result_id]

    def load(entry: Entry) -> replicates.StoredReplicates:
        source = source_of(entry)
        with process.database.reading() as session:
            found = replicates.load(session, source)
        if found is None:
            raise RuntimeError(f"the replicates of result {entry.result_id} have disappeared")
        return found

    def load_evidence(entry: Entry) -> Evidence:
        return replicates.evidence_of(process, source_of(entry))

    basis = turn.board.basis
    computed = statistics_of(basis.entries, basis.competition, load, decimals=basis.decimals)
    edition = next(iter(by_result.values())).edition
    return with_combinations(computed, basis, edition, load, load_evidence)


def _store(session: Session, challenge_id: uuid.UUID, board: _Board, computed: Computed | None) -> None:
    """Replace the statistics of a leaderboard; remove them if there are no longer any."""
    known = boards.of_board(board.phase.id, board.basis.competition.key, board.basis.frozen_at)
    for old in session.scalars(known):
        for table in (BoardDifferences, BoardAgreement):
            session.execute(delete(table).where(table.statistics_id == old.id))
        session.execute(delete(BoardStatistics).where(BoardStatistics.id == old.id))
    if computed is None or board.digest is None:
        return
    stored = BoardStatistics(
        id=uuid.uuid4(),
        created_at=server_time(session),  # which is compared with when organisers last asked
        challenge_id=challenge_id,
        phase_id=board.phase.id,
        competition=board.basis.competition.key,
        frozen_at=board.basis.frozen_at,
        methods_sha256=board.digest,
        version=queue.VERSION,
        content=computed.statistics.as_json(),
    )
    session.add(stored)
    session.flush()
    for name, differences in computed.differences.items():
        session.add(BoardDifferences(statistics_id=stored.id, class_name=name, content=differences.packed()))
    if computed.agreement is not None:
        session.add(BoardAgreement(statistics_id=stored.id, content=computed.agreement.as_json()))
