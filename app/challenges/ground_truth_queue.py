"""Uploaded ground truth that waits for a worker: claimed under a lease, stored only while the lease is held."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, and_, or_, select, update
from sqlalchemy.orm import Session

from vocboard.app.challenges import queries
from vocboard.app.challenges.editions import edition_from
from vocboard.app.challenges.ground_truth import make_current, start_scoring
from vocboard.app.challenges.models import Challenge, GroundTruthVersion, TruthState
from vocboard.app.database import now
from vocboard.evaluator.editions import Edition
from vocboard.evaluator.problems import Problem, Severity

MOST_PROBLEMS = 200  # that are kept; the rest are counted


@dataclass(frozen=True, slots=True)
class TruthClaim:
    """The right to import one version, until the lease expires."""

    version_id: uuid.UUID
    challenge_id: uuid.UUID
    lease_id: uuid.UUID
    edition: Edition


@dataclass(frozen=True, slots=True)
class ImportedTruth:
    """What the database keeps of ground truth.

    Attributes:
        sha256: of its canonical content.
        summary: for organisers alone, by task and image set (`detection/test`): `images`, and where there are any
            `people`, `classes` (`positives` and `difficult` by class) and `missing`, why it cannot be scored.
        competitions: keys of those it can score.
        image_sets: its public half, from `pack_image_sets`.
    """

    sha256: str
    summary: dict[str, Any]
    competitions: tuple[str, ...]
    image_sets: bytes


def claim(session: Session, *, lease: timedelta, attempts: int) -> TruthClaim | None:
    """Claim the version that has waited longest: an uploaded one, or one whose worker fell silent.

    One that has been tried `attempts` times in vain is given up, and the next is looked at.
    """
    instant = now()
    waiting = (
        select(GroundTruthVersion)
        .where(_is_due(instant))
        .order_by(GroundTruthVersion.created_at, GroundTruthVersion.id)
        .limit(1)
        .with_for_update(skip_locked=True)
    )
    while version := session.scalar(waiting):
        if version.attempts >= attempts:
            message = "The import repeatedly stopped the worker. Ask the operator to check the worker's log."
            _give_up(version, [Problem("import_stopped", Severity.ERROR, message)])
            session.flush()
            continue
        version.state = TruthState.IMPORTING
        version.attempts += 1
        version.lease_id = uuid.uuid4()
        version.lease_expires_at = instant + lease
        session.flush()
        columns = select(Challenge.edition, Challenge.edition_file).where(Challenge.id == version.challenge_id)
        name, file = session.execute(columns).one()
        return TruthClaim(version.id, version.challenge_id, version.lease_id, edition_from(name, file))
    return None


def is_due(session: Session) -> bool:
    """Whether `claim` would find something."""
    return session.scalar(select(GroundTruthVersion.id).where(_is_due(now())).limit(1)) is not None


def renew(session: Session, claimed: TruthClaim, *, lease: timedelta) -> bool:
    """Prolong a lease; False if it is no longer held."""
    renewed = session.execute(
        update(GroundTruthVersion)
        .where(GroundTruthVersion.id == claimed.version_id, GroundTruthVersion.lease_id == claimed.lease_id)
        .values(lease_expires_at=now() + lease)
        .returning(GroundTruthVersion.id)
    )
    return renewed.first() is not None


def finish(session: Session, claimed: TruthClaim, imported: ImportedTruth) -> bool:
    """Store what was imported; False, and nothing stored, if the lease is no longer held."""
    version = _held(session, claimed)
    if version is None:
        return False
    version.state = TruthState.READY
    version.sha256 = imported.sha256
    version.summary = imported.summary
    version.competitions = list(imported.competitions)
    version.image_sets = imported.image_sets
    version.lease_id = version.lease_expires_at = None
    session.flush()
    return True


def refuse(session: Session, claimed: TruthClaim, problems: Sequence[Problem]) -> bool:
    """Store why a version cannot be imported; False, and nothing stored, if the lease is no longer held."""
    version = _held(session, claimed)
    if version is None:
        return False
    _give_up(version, problems)
    session.flush()
    return True


def start_first_scorings(session: Session) -> int:
    """Give every challenge that has no scoring yet its first one, if ground truth is ready that fits.

    The newest version that can score all of the challenge's competitions is taken. Once there is a scoring, another
    one becomes current only by a re-score.

    Returns:
        How many challenges got one.
    """
    started = 0
    for found in queries.challenges_without_scoring(session):
        queries.lock_challenge(session, found.id)
        session.refresh(found, ["current_scoring_id"])
        if found.current_scoring_id is not None:
            continue
        needed = {row.key for row in found.competitions}
        for version in queries.truth_versions(session, found.id):
            if version.state is TruthState.READY and needed <= set(version.competitions or ()):
                scoring = start_scoring(session, challenge=found, version=version)
                make_current(session, challenge=found, scoring=scoring, actor=None)
                started += 1
                break
    return started


def waiting_versions(session: Session) -> set[uuid.UUID]:
    """Ids of the versions whose sealed upload is still needed."""
    unfinished = (TruthState.UPLOADED, TruthState.IMPORTING)
    return set(session.scalars(select(GroundTruthVersion.id).where(GroundTruthVersion.state.in_(unfinished))))


def _is_due(instant: datetime) -> ColumnElement[bool]:
    return or_(
        GroundTruthVersion.state == TruthState.UPLOADED,
        and_(GroundTruthVersion.state == TruthState.IMPORTING, GroundTruthVersion.lease_expires_at <= instant),
    )


def _held(session: Session, claimed: TruthClaim) -> GroundTruthVersion | None:
    return session.scalar(
        select(GroundTruthVersion)
        .where(GroundTruthVersion.id == claimed.version_id, GroundTruthVersion.lease_id == claimed.lease_id)
        .with_for_update()
    )


def _give_up(version: GroundTruthVersion, problems: Sequence[Problem]) -> None:
    version.state = TruthState.FAILED
    version.problems = [problem.as_json() for problem in problems[:MOST_PROBLEMS]]
    if (more := len(problems) - MOST_PROBLEMS) > 0:
        version.problems += [Problem("more_problems", Severity.ERROR, f"There are {more} more problems.").as_json()]
    version.lease_id = version.lease_expires_at = None
