"""Challenges with their phases, as services load them."""

import uuid

from sqlalchemy import select
from sqlalchemy.orm import Session, selectinload

from vocboard.app.challenges import queries
from vocboard.app.challenges.models import MAIN_PHASE, Challenge, ChallengePhase, GroundTruthVersion
from vocboard.app.challenges.phases import Phase, phase_named
from vocboard.app.leaderboards import freezing, service
from vocboard.app.leaderboards.board import Board, Part


def complete(session: Session, challenge_id: uuid.UUID) -> Challenge:
    """Return a challenge with its phases."""
    return session.scalars(
        select(Challenge)
        .where(Challenge.id == challenge_id)
        .options(selectinload(Challenge.phases))
        .execution_options(populate_existing=True)
    ).one()


def phase_of(session: Session, challenge: Challenge, key: str = MAIN_PHASE) -> Phase:
    """Return a phase of a challenge as it is now."""
    return phase_named(complete(session, challenge.id), key)


def main_truth(session: Session, challenge: Challenge) -> GroundTruthVersion | None:
    """Return the ground truth that the main phase is scored with."""
    return queries.truth_of_scoring(session, main_phase(session, challenge.id).current_scoring_id)


def main_phase(session: Session, challenge_id: uuid.UUID) -> ChallengePhase:
    """Return the row of the main phase of a challenge."""
    return complete(session, challenge_id).main_phase


def show_board(
    session: Session, challenge: Challenge, competition: str, *, phase: str = MAIN_PHASE, part: Part = Part.COUNTING
) -> Board:
    """Return a leaderboard as it is now; one that is due to freeze is frozen before."""
    found = complete(session, challenge.id)
    try:
        return service.board(session, found, phase_named(found, phase), competition, part=part)
    except service.NotFrozenYetError:
        freezing.freeze_due(session, found)
        return service.board(session, found, phase_named(found, phase), competition, part=part)
