"""What organisers do with versions of ground truth once they have been imported: confirm, remove, make room for."""

from collections.abc import Mapping

from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.audit import service as audit
from vocboard.app.challenges import queries
from vocboard.app.challenges.ground_truth import needs_confirmation
from vocboard.app.challenges.models import Challenge, GroundTruthVersion, TruthState
from vocboard.app.challenges.phases import (
    competitions_scored_with,
    edition_of_phase,
    lock_to_change,
    phase_with_id,
)
from vocboard.app.database import now
from vocboard.app.errors import ConflictError, NotFoundError
from vocboard.app.jobs import service as jobs
from vocboard.app.jobs.models import Kind

NOT_THERE = "the tree has no ground truth for it"


def get(session: Session, challenge: Challenge, number: int) -> GroundTruthVersion:
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

    The caller commits, then tells the `WorkerNotifier` afterwards.

    Raises:
        NotFoundError: there is no such version.
        ConflictError: it is not ready, or the challenge is archived.
    """
    lock_to_change(session, challenge)
    version = get(session, challenge, number)
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
    version = get(session, challenge, number)
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
