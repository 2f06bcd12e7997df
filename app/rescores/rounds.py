"""The scorings that a re-score adds: one, or for a changed edition one for each ground truth of the challenge."""

import uuid
from collections.abc import Mapping

from sqlalchemy import ColumnElement, or_, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from vocboard.app.challenges.ground_truth import current_versions
from vocboard.app.challenges.models import Challenge, GroundTruthVersion, Scoring
from vocboard.app.challenges.phases import phase_named, phases_of
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
    for version in truths(session, challenge).values():
        if version.id not in known:
            _add(session, rescore, version.id, begun_with_id=rescore.scoring_id)


def by_phase(session: Session, rescore: Rescore) -> Mapping[str, Scoring]:
    """Return the scorings of a re-score that has begun, by the phase that their ground truth is of."""
    rows = session.execute(
        select(GroundTruthVersion.phase_key, Scoring)
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


def truths(session: Session, challenge: Challenge) -> Mapping[str, GroundTruthVersion]:
    """Return the current versions of a challenge's ground truth, by the phases that have their own, the main one first.

    Args:
        challenge: with its phases.
    """
    own = {phase.key for phase in phases_of(challenge) if phase.has_own_truth}
    found = {key: one for key, one in current_versions(session, challenge).items() if key in own}
    return dict(sorted(found.items(), key=lambda item: (not phase_named(challenge, item[0]).is_main, item[1].number)))


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
