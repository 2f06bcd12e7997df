"""Whether the leaderboards of a challenge have statistics, and its results diagnoses, and if not, why.

For organisers, who can have what failed computed again.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.audit import service as audit
from vocboard.app.challenges.models import Challenge
from vocboard.app.challenges.phases import Phase, lock_to_change, phases_of
from vocboard.app.database import server_time
from vocboard.app.errors import ConflictError
from vocboard.app.evaluations import diagnosis_tasks
from vocboard.app.jobs import service as jobs
from vocboard.app.jobs.models import Kind
from vocboard.app.leaderboards.service import rules_of, statistics_basis
from vocboard.app.leaderboards.shown_statistics import shown_statistics
from vocboard.app.leaderboards.statistics import Failure
from vocboard.evaluator.editions import Competition


class StatisticsState(StrEnum):
    """Whether a leaderboard has statistics."""

    EMPTY = "empty"  # it shows no methods
    LEFT_OUT = "left_out"  # by its organisers, or it was frozen by a version without statistics
    BEING_COMPUTED = "being_computed"
    SHOWN = "shown"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class BoardState:
    """The statistics of one leaderboard.

    Attributes:
        methods: number of methods that it shows.
        failure: why there are none.
    """

    phase: Phase
    competition: Competition
    methods: int
    state: StatisticsState
    failure: Failure | None = None


def states(session: Session, challenge: Challenge, *, at: datetime) -> list[BoardState]:
    """Return the state of each leaderboard of a challenge, phase by phase.

    Args:
        challenge: with its competitions and phases.
        at: the current time.
    """
    return [_state(session, challenge, phase, key, at) for phase in phases_of(challenge) for key in phase.competitions]


def request_computation(session: Session, *, challenge: Challenge, user: User) -> None:
    """Ask workers to try again what failed: statistics of leaderboards, and diagnoses.

    Args:
        challenge: from `get_organised`.

    Raises:
        ConflictError: the challenge is archived, or shows no statistics and no diagnosis has failed.
    """
    lock_to_change(session, challenge)
    if not challenge.statistics and not diagnosis_tasks.unknown(session, challenge.id).failed:
        raise ConflictError(
            "This challenge shows scores and ranks only. To have statistics, change it under “How certain scores are”."
        )
    challenge.statistics_requested_at = server_time(session)
    jobs.announce(session, Kind.STATISTICS)  # which workers add when they look for work
    diagnosis_tasks.retry_failed(session, challenge.id)
    audit.record(session, actor=user, action="challenge.request_statistics", subject=challenge)


def _state(session: Session, challenge: Challenge, phase: Phase, key: str, at: datetime) -> BoardState:
    basis = statistics_basis(session, challenge, phase, key, at=at, with_classes=False)
    if basis is None:  # frozen, and not copied yet
        return BoardState(phase, rules_of(challenge, phase, key), 0, StatisticsState.BEING_COMPUTED)
    state, failure = StatisticsState.LEFT_OUT, None
    if not basis.entries:
        state = StatisticsState.EMPTY
    elif basis.is_wanted:
        board = phase.id, key
        shown = shown_statistics(session, board, basis.entries, decimals=basis.decimals, frozen_at=basis.frozen_at)
        if shown is not None and shown.failure is not None:
            state, failure = StatisticsState.FAILED, shown.failure
        elif shown is not None:
            state = StatisticsState.SHOWN if shown.is_current else StatisticsState.BEING_COMPUTED
    return BoardState(phase, basis.competition, len(basis.entries), state, failure)
