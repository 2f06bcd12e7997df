"""The scorings that a re-score adds: one, or for a changed edition one for each ground truth of the challenge."""

import uuid
from collections.abc import Mapping, Sequence

from sqlalchemy import ColumnElement, or_, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from vocboard.app.challenges.ground_truth import current_versions, needs_confirmation
from vocboard.app.challenges.models import Challenge, GroundTruthVersion, Scoring, TruthState
from vocboard.app.challenges.phases import competitions_scored_with, phase_with_id
from vocboard.app.challenges.queries import challenge_as_it_is
from vocboard.app.evaluations.models import Evaluation
from vocboard.app.leaderboards.models import Rescore, RescoreState


def begin(session: Session, rescore: Rescore) -> Scoring:
    """Add the scorings of a re-score that starts, or starts again, and return the first one, which it is known by."""
    first = _add(session, rescore, rescore.ground_truth_version_id)
    rescore.scoring_id = first.id
    add_missing(session, rescore)
    return first


def add_missing(session: Session, rescore: Rescore) -> None:
    """Add scorings against ground truth that has become current since a re-score for a changed edition began.

    That only happens in phases that nobody had submitted to.
    """
    if not rescore.changes_edition:
        return
    challenge = challenge_as_it_is(session, rescore.challenge_id)
    known = {scoring.ground_truth_version_id for scoring in by_phase(session, rescore).values()}
    for version in truths(session, challenge):
        if version.id not in known:
            _add(session, rescore, version.id, begun_with_id=rescore.scoring_id)


def by_phase(session: Session, rescore: Rescore) -> Mapping[uuid.UUID, Scoring]:
    """Return the scorings of a re-score that has begun, by the id of the phase that their ground truth is of."""
    rows = session.execute(
        select(GroundTruthVersion.phase_id, Scoring)
        .join(Scoring, Scoring.ground_truth_version_id == GroundTruthVersion.id)
        .where(is_of_round(Scoring.id, rescore))
        .order_by(GroundTruthVersion.number)
    )
    return {row[0]: row[1] for row in rows}  # the latest version of each


def is_of_round(scoring: InstrumentedAttribute[uuid.UUID], rescore: Rescore) -> ColumnElement[bool]:
    """Condition on scorings: a re-score has added them."""
    return scoring.in_(
        select(Scoring.id).where(or_(Scoring.id == rescore.scoring_id, Scoring.begun_with_id == rescore.scoring_id))
    )


def is_result(rescore: Rescore) -> ColumnElement[bool]:
    """Condition on evaluations: they are the results of a re-score."""
    return is_of_round(Evaluation.scoring_id, rescore)


def truths(session: Session, challenge: Challenge) -> Sequence[GroundTruthVersion]:
    """Return the current versions of the phases that have their own ground truth, the main one's first.

    Args:
        challenge: with its phases.
    """
    versions = {version.id: version for version in current_versions(session, challenge).values()}
    main = challenge.main_phase.id
    return sorted(versions.values(), key=lambda version: (version.phase_id != main, version.number))


def _add(
    session: Session, rescore: Rescore, version_id: uuid.UUID, *, begun_with_id: uuid.UUID | None = None
) -> Scoring:
    scoring = Scoring(
        challenge_id=rescore.challenge_id,
        ground_truth_version_id=version_id,
        edition_version=rescore.edition_version,
        begun_with_id=begun_with_id,
    )
    session.add(scoring)
    session.flush()
    return scoring


def why_unusable(challenge: Challenge, version: GroundTruthVersion) -> str | None:
    """Say for organisers why a re-score cannot score with a version; None if it can.

    Args:
        challenge: with its competitions and phases.
        version: whose import has ended; one that has not is unusable, too.
    """
    if version.state is not TruthState.READY:
        return f"Version {version.number} cannot be scored with: it is {version.state}."
    if needs_confirmation(version):
        return f"Version {version.number} has warnings. Read and confirm them first."
    if phase_with_id(challenge, version.phase_id).scoring_id is None and challenge.imported_at is None:
        return "This challenge has no current ground truth yet, so there is nothing to score again."
    known = set(version.competitions or ())
    if missing := [key for key in competitions_scored_with(challenge, version.phase_id) if key not in known]:
        return (
            f"Version {version.number} cannot score {', '.join(missing)}. Remove these competitions from the "
            "challenge, or upload a version that can score them."
        )
    return None


def has_unused_truth(rescore: Rescore) -> bool:
    """Whether a re-score failed before it evaluated anything."""
    return rescore.state is RescoreState.FAILED and rescore.scoring_id is None


def awaits_confirmation(rescore: Rescore, challenge: Challenge) -> bool:
    """Whether a re-score evaluated nothing because its ground truth has warnings that an organiser can still confirm.

    Args:
        rescore: with its ground truth version.
        challenge: its challenge.
    """
    version = rescore.ground_truth_version
    is_asked = has_unused_truth(rescore) and version.state is TruthState.READY and challenge.archived_at is None
    return is_asked and needs_confirmation(version)
