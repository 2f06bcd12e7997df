"""Versions of a challenge's custom edition file. Scorings, and so results, name the version that they are by."""

import uuid

from sqlalchemy import select
from sqlalchemy.orm import Session

from vocboard.app.challenges import queries
from vocboard.app.challenges.editions import edition_from, source_of
from vocboard.app.challenges.models import Challenge, EditionVersion, GroundTruthVersion, TruthState
from vocboard.app.challenges.phases import Phase, edition_of_phase, on_image_set, phases_of
from vocboard.app.database import now
from vocboard.app.errors import NotFoundError
from vocboard.evaluator.editions import Edition

FIRST = 1


def add(session: Session, challenge: Challenge, file: str) -> int:
    """Store an edition file to score by, and return its number: that of an equal file, if there is one."""
    stored = _files(session, challenge.id)
    if challenge.edition_file is not None and challenge.edition_version not in stored:
        _add_row(session, challenge.id, challenge.edition_version, challenge.edition_file)
        stored[challenge.edition_version] = challenge.edition_file
    for number, known in stored.items():
        if known == file:
            return number
    number = max(stored, default=challenge.edition_version) + 1
    _add_row(session, challenge.id, number, file)
    return number


def file_of(session: Session, challenge_id: uuid.UUID, number: int) -> str | None:
    """Return the edition file of a version; None for that of a challenge whose edition has never been changed."""
    row = _row(session, challenge_id, number)
    return None if row is None else row.file


def edition_by(session: Session, challenge: Challenge, phase: Phase, number: int) -> Edition:
    """Return a version of a challenge's edition, with its competitions on the phase's image set."""
    if number == challenge.edition_version:
        return edition_of_phase(challenge, phase)
    return on_image_set(
        edition_from(challenge.edition, file_of(session, challenge.id, number) or challenge.edition_file),
        phase.image_set,
    )


def source_of_version(session: Session, challenge: Challenge, number: int) -> str:
    """Return the edition file of a version that is or was current, for offline evaluation.

    Raises:
        NotFoundError: there is none of this number, or it has never been current.
    """
    if number == challenge.edition_version:
        return source_of(challenge)
    row = _row(session, challenge.id, number)
    if row is None or (row.number != FIRST and row.made_current_at is None):
        raise _missing(number)
    return row.file


def make_current(session: Session, challenge: Challenge, number: int) -> None:
    """Let a stored version be the edition of a challenge from now on. Only for workers.

    Which competitions the versions of the ground truth can score is stored by key, so it is computed again.

    Args:
        challenge: with its competitions and phases.
    """
    row = _row(session, challenge.id, number)
    if row is None:
        raise _missing(number)
    old, new = edition_from(challenge.edition, challenge.edition_file), edition_from(challenge.edition, row.file)
    image_sets = {phase.id: phase.image_set for phase in phases_of(challenge)}
    for version in queries.truth_versions(session, challenge.id):
        if version.state is TruthState.READY:
            image_set = image_sets[version.phase_id]
            pairs = scorable(version, on_image_set(old, image_set))
            version.competitions = [
                key
                for key, one in on_image_set(new, image_set).competitions.items()
                if (one.task.value, one.image_set) in pairs
            ]
    challenge.edition_file, challenge.edition_version = row.file, number
    row.made_current_at = now()
    session.flush()


def scorable(version: GroundTruthVersion, edition: Edition) -> frozenset[tuple[str, str]]:
    """Return the tasks and image sets that a version has ground truth of.

    Args:
        edition: by which it was read, on its phase's image set.
    """
    found = [edition.competitions[key] for key in version.competitions or () if key in edition.competitions]
    return frozenset((one.task.value, one.image_set) for one in found)


def _files(session: Session, challenge_id: uuid.UUID) -> dict[int, str]:
    query = select(EditionVersion.number, EditionVersion.file).where(EditionVersion.challenge_id == challenge_id)
    return {row.number: row.file for row in session.execute(query.order_by(EditionVersion.number))}


def _row(session: Session, challenge_id: uuid.UUID, number: int) -> EditionVersion | None:
    query = select(EditionVersion).where(EditionVersion.challenge_id == challenge_id, EditionVersion.number == number)
    return session.scalar(query)


def _missing(number: int) -> NotFoundError:
    return NotFoundError(f"This challenge has no version {number} of its edition.")


def _add_row(session: Session, challenge_id: uuid.UUID, number: int, file: str) -> None:
    session.add(EditionVersion(challenge_id=challenge_id, number=number, file=file))
    session.flush()
