"""The scorings that a re-score adds: one, or for a changed edition one for each ground truth of the challenge."""

import uuid
from collections.abc import Mapping, Sequence

from sqlalchemy import ColumnElement, or_, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from vocboard.app.challenges.ground_truth import current_versions
from vocboard.app.challenges.models import Challenge, GroundTruthVersion, Scoring
from vocboard.app.challenges.queries import challenge_as_it_is
from vocboard.app.evaluations.models import Evaluation
from vocboard.app.rescores.models import Rescore


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
