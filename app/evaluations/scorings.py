"""Rounds of scoring: a phase shows the evaluations of the one that is current."""

import uuid
from collections.abc import Iterator

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from vocboard.app.audit import service as audit
from vocboard.app.audit.service import Actor
from vocboard.app.challenges import queries
from vocboard.app.challenges.ground_truth import needs_confirmation
from vocboard.app.challenges.models import (
    Challenge,
    GroundTruthVersion,
    Scoring,
    TruthState,
)
from vocboard.app.challenges.phases import Phase, competitions_scored_with, phase_with_id, phases_of
from vocboard.app.evaluations import diagnosis_tasks
from vocboard.app.evaluations.models import Evaluation
from vocboard.app.submissions import queries as submission_queries
from vocboard.app.submissions.models import Submission


def start_scoring(session: Session, *, challenge: Challenge, version: GroundTruthVersion) -> Scoring:
    """Add a scoring against a version that is ready. `make_current` puts it into effect."""
    scoring = Scoring(
        challenge_id=challenge.id, ground_truth_version_id=version.id, edition_version=challenge.edition_version
    )
    session.add(scoring)
    session.flush()
    return scoring


def make_current(
    session: Session, *, challenge: Challenge, scoring: Scoring, actor: Actor | None, phase_id: uuid.UUID
) -> None:
    """Let a round of scoring count from now on in a phase, and in those that share its ground truth.

    The one switch of what boards and results show. A submission without an evaluation in this scoring has no result
    from now on.

    Args:
        challenge: with its phases.
    """
    phase = phase_with_id(challenge, phase_id)
    for row in challenge.phases:
        if row.truth_phase_id == phase_id:
            row.current_scoring_id = scoring.id
    session.flush()
    evaluation = select(Evaluation.id).where(
        Evaluation.submission_id == Submission.id, Evaluation.scoring_id == scoring.id
    )
    session.execute(
        update(Submission)
        .where(submission_queries.is_scored_with_truth_of(phase_id))
        .values(current_evaluation_id=evaluation.scalar_subquery())
        .execution_options(synchronize_session=False)
    )
    diagnosis_tasks.add(session, Evaluation.scoring_id == scoring.id)
    details = {
        "from": str(phase.scoring_id) if phase.scoring_id else None,
        "to": str(scoring.id),
        "ground_truth_version": str(scoring.ground_truth_version_id),
        "phase": phase.key,
    }
    audit.record(session, actor=actor, action="challenge.make_scoring_current", subject=challenge, details=details)


def start_scorings(session: Session) -> int:
    """Let versions become current that need no re-score.

    In each phase with ground truth of its own, that is the newest version that can score all competitions and needs no
    confirmation, if the phase has no current version, or an older one that nobody has submitted to. What came with an
    imported challenge needs a re-score.

    Returns:
        The number of phases with a new current version.
    """
    started = 0
    for found in list(dict.fromkeys(challenge.id for challenge, _, _ in _startable(session))):
        # Nobody can submit from here on, because that locks the challenge, too.
        queries.lock_challenge(session, found)
        queries.challenge_as_it_is(session, found)
        for challenge, phase, version in list(_startable(session, found)):
            scoring = start_scoring(session, challenge=challenge, version=version)
            make_current(session, challenge=challenge, scoring=scoring, actor=None, phase_id=phase.id)
            started += 1
    return started


def _startable(
    session: Session, challenge_id: uuid.UUID | None = None
) -> Iterator[tuple[Challenge, Phase, GroundTruthVersion]]:
    """Find what `start_scorings` starts, in all challenges or one."""
    for challenge in queries.challenges_with_new_truth(session, challenge_id):
        versions = queries.truth_versions(session, challenge.id)
        for phase in phases_of(challenge):
            if not phase.has_own_truth:
                continue
            current = queries.truth_of_scoring(session, phase.scoring_id)
            # Results of another server count until a re-score replaces them.
            has_results = current is not None or challenge.imported_at is not None
            if has_results and submission_queries.is_submitted_to(session, phase.id):
                continue
            needed = set(competitions_scored_with(challenge, phase.id))
            for version in versions:
                if version.phase_id != phase.id or version.state is not TruthState.READY:
                    continue
                if current is not None and version.number <= current.number:
                    break
                if not needs_confirmation(version) and needed <= set(version.competitions or ()):
                    yield challenge, phase, version
                    break
