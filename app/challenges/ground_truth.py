"""Ground truth of challenges in the web process: versions, their state, and their public part.

Organisers confirm the warnings of imported versions, and remove versions that could not be imported.
"""

import gzip
import threading
import uuid
from collections.abc import Mapping

from cachetools import LRUCache
from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.audit import service as audit
from vocboard.app.challenges import queries
from vocboard.app.challenges.models import (
    MAIN_PHASE,
    Challenge,
    GroundTruthVersion,
    TruthState,
)
from vocboard.app.challenges.phases import (
    Phase,
    competitions_scored_with,
    edition_of_phase,
    lock_to_change,
    phase_named,
    phase_with_id,
    phases_of,
)
from vocboard.app.database import now
from vocboard.app.errors import ConflictError, NotFoundError
from vocboard.app.forms import cleaned
from vocboard.app.jobs import service as jobs
from vocboard.app.jobs.models import Kind
from vocboard.evaluator.image_sets import ImageSets

MAX_FILE_NAME_LENGTH = 255
UNFINISHED = (TruthState.UPLOADED, TruthState.IMPORTING)  # no worker has read the version yet
IMAGE_SETS_CACHED = 16  # a version's image sets never change
NOT_THERE = "the tree has no ground truth for it"

_cached: LRUCache[uuid.UUID, ImageSets] = LRUCache(IMAGE_SETS_CACHED)
_caching = threading.Lock()


def add_ground_truth_version(
    session: Session,
    *,
    challenge: Challenge,
    user: User,
    file_name: str,
    version_id: uuid.UUID,
    phase_key: str = MAIN_PHASE,
) -> GroundTruthVersion:
    """Register an upload of ground truth that is encrypted in the inbox under `version_id`, for import by a worker.

    Args:
        file_name: name of the organiser's file, for display.
        phase_key: the phase that it is for.

    Raises:
        NotFoundError: there is no such phase.
        ConflictError: the phase has no own ground truth, or the challenge is archived.
    """
    lock_to_change(session, challenge)
    phase = check_phase_of_truth(challenge, phase_key)
    name = file_name.replace("\\", "/").rsplit("/", 1)[-1][-MAX_FILE_NAME_LENGTH:]
    version = GroundTruthVersion(
        id=version_id,
        challenge_id=challenge.id,
        phase_id=phase.id,
        number=queries.last_truth_number(session, challenge.id) + 1,
        uploaded_by_id=user.id,
        file_name=cleaned(name),
    )
    session.add(version)
    jobs.add(session, Kind.IMPORT, version_id, owner=user.id)
    details = {
        "challenge": str(challenge.id),
        "number": version.number,
        "file_name": version.file_name,
        "phase": phase_key,
    }
    audit.record(session, actor=user, action="ground_truth.upload", subject=version, details=details)
    return version


def needs_confirmation(version: GroundTruthVersion) -> bool:
    """Whether an organiser has to confirm the warnings of a version before it can become current."""
    return bool(version.warnings) and version.confirmed_at is None


def check_phase_of_truth(challenge: Challenge, phase_key: str) -> Phase:
    """Return a phase that has its own ground truth.

    Raises:
        NotFoundError: there is no such phase.
        ConflictError: it uses the ground truth of the main phase.
    """
    phase = phase_named(challenge, phase_key)
    if not phase.has_own_truth:
        raise ConflictError(f"The phase “{phase.title}” uses the main phase's ground truth. Upload it there.")
    return phase


def current_truth(session: Session, phase: Phase) -> GroundTruthVersion | None:
    """Return the version that submissions of a phase are scored against; None before the first one is ready."""
    return queries.truth_of_scoring(session, phase.scoring_id)


def current_versions(session: Session, challenge: Challenge) -> dict[uuid.UUID, GroundTruthVersion]:
    """Return the version that counts in each phase that has one, by the phase's id."""
    found = {phase.id: current_truth(session, phase) for phase in phases_of(challenge)}
    return {phase_id: version for phase_id, version in found.items() if version is not None}


def current_image_sets(session: Session, phase: Phase) -> ImageSets:
    """Return the public part of the current ground truth; cached, since a version never changes.

    Raises:
        ConflictError: the phase has no ground truth yet.
    """
    truth = _current_or_conflict(session, phase)
    return _image_sets(session, truth.id)


def test_images(session: Session, challenge: Challenge) -> set[str]:
    """Return the identifiers of the test images of all phases; empty before there is ground truth."""
    versions = [
        version for version in current_versions(session, challenge).values() if version.state is TruthState.READY
    ]
    found = (_image_sets(session, version.id).sets.values() for version in versions)
    return {image for sets in found for one in sets for image in one.images}


def image_sets_json(session: Session, phase: Phase) -> bytes:
    """Return the same as `evaluator.image_sets.ImageSets.to_json` wrote it, for participants to validate offline.

    Raises:
        ConflictError: the phase has no ground truth yet.
    """
    return _stored_json(session, _current_or_conflict(session, phase).id)


def pack_image_sets(image_sets: ImageSets) -> bytes:
    """Return image sets in the database's format."""
    return gzip.compress(image_sets.to_json().encode(), mtime=0)


def _current_or_conflict(session: Session, phase: Phase) -> GroundTruthVersion:
    truth = current_truth(session, phase)
    if truth is None:
        raise ConflictError("This challenge has no ground truth yet.")
    return truth


def _stored_json(session: Session, version_id: uuid.UUID) -> bytes:
    packed = queries.image_sets_of(session, version_id)
    if packed is None:
        raise ConflictError("This ground truth is not ready.")
    return gzip.decompress(packed)


def _image_sets(session: Session, version_id: uuid.UUID) -> ImageSets:
    with _caching:
        if known := _cached.get(version_id):
            return known
    image_sets = ImageSets.from_json(_stored_json(session, version_id))
    with _caching:
        return _cached.setdefault(version_id, image_sets)


def get_version(session: Session, challenge: Challenge, number: int) -> GroundTruthVersion:
    """Return one version of a challenge.

    Raises:
        NotFoundError: there is none of this number.
    """
    version = queries.truth_version(session, challenge.id, number)
    if version is None:
        raise NotFoundError(f"This challenge has no version {number} of its ground truth.")
    return version


def confirm(session: Session, *, challenge: Challenge, user: User, number: int) -> GroundTruthVersion:
    """Confirm the warnings of the import, so that the version can become current.

    Nothing changes if they are confirmed already.

    Raises:
        NotFoundError: there is no such version.
        ConflictError: it is not ready, or the challenge is archived.
    """
    lock_to_change(session, challenge)
    version = get_version(session, challenge, number)
    if version.state is not TruthState.READY:
        raise ConflictError(f"Only a version that is ready can be confirmed; version {number} is {version.state}.")
    if needs_confirmation(version):
        version.confirmed_at, version.confirmed_by_id = now(), user.id
        details = {"challenge": str(challenge.id), "number": number, "warnings": len(version.warnings or ())}
        audit.record(session, actor=user, action="ground_truth.confirm", subject=version, details=details)
        jobs.add(session, Kind.IMPORT, version.id, owner=user.id)
    return version


def remove_failed(session: Session, *, challenge: Challenge, user: User, number: int) -> None:
    """Remove a version that could not be imported. Its number is not used again while later ones exist.

    Raises:
        NotFoundError: there is no such version.
        ConflictError: it has not failed, or the challenge is archived.
    """
    lock_to_change(session, challenge)
    version = get_version(session, challenge, number)
    if version.state is not TruthState.FAILED:
        raise ConflictError(f"Only a version that failed can be removed; version {number} is {version.state}.")
    details = {"challenge": str(challenge.id), "number": number, "file_name": version.file_name}
    audit.record(session, actor=user, action="ground_truth.remove", subject=version, details=details)
    session.delete(version)
    session.flush()


def unscorable(challenge: Challenge, version: GroundTruthVersion) -> Mapping[str, str]:
    """Return why a version that is ready cannot score competitions of its phases, by key; empty if it can all.

    Args:
        challenge: with its phases.
    """
    known, summary = set(version.competitions or ()), version.summary or {}
    competitions = edition_of_phase(challenge, phase_with_id(challenge, version.phase_id)).competitions
    missing = [key for key in competitions_scored_with(challenge, version.phase_id) if key not in known]
    return {
        key: summary.get(f"{competitions[key].task}/{competitions[key].image_set}", {}).get("missing", NOT_THERE)
        for key in missing
        if key in competitions
    }
