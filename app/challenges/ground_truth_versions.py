"""What organisers do with versions of ground truth once they have been imported: confirm, remove, make room for."""

from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.audit import service as audit
from vocboard.app.challenges import queries
from vocboard.app.challenges.ground_truth import needs_confirmation
from vocboard.app.challenges.models import MAIN_PHASE, Challenge, GroundTruthVersion, TruthState
from vocboard.app.challenges.phase_changes import require_not_entered
from vocboard.app.challenges.phases import (
    Phase,
    competitions_scored_with,
    edition_of_phase,
    lock_to_change,
    phases_of,
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
        challenge: with its competitions and phases.
    """
    known, summary = set(version.competitions or ()), version.summary or {}
    phase = next((each for each in phases_of(challenge) if each.key == version.phase_key), None)
    if phase is None:
        return {}
    competitions = edition_of_phase(challenge, phase).competitions
    missing = [key for key in competitions_scored_with(challenge, phase.key) if key not in known]
    return {
        key: summary.get(f"{competitions[key].task}/{competitions[key].image_set}", {}).get("missing", NOT_THERE)
        for key in missing
        if key in competitions
    }


def remove_unscorable(session: Session, *, challenge: Challenge, user: User, number: int) -> list[str]:
    """Remove the competitions that a version cannot score from its phase, and from those that share its ground truth.

    After the commit, the caller notifies the `WorkerNotifier`.

    Returns:
        The keys of these competitions.

    Raises:
        NotFoundError: there is no such version.
        ConflictError: it is not ready, or would leave a phase without competitions; there are submissions to one of
            them; or the challenge is archived.
    """
    lock_to_change(session, challenge)
    version = get(session, challenge, number)
    if version.state is not TruthState.READY:
        raise ConflictError(f"Version {number} is {version.state}.")
    removed = list(unscorable(challenge, version))
    concerned = [
        phase
        for phase in phases_of(challenge)
        if (phase.key == version.phase_key or (version.phase_key == MAIN_PHASE and not phase.has_own_truth))
        and not set(removed).isdisjoint(phase.competitions)
    ]
    for phase in concerned:
        if set(phase.competitions) <= set(removed):
            of_phase = f"the phase “{phase.title}”" if challenge.further_phases else "the challenge"
            raise ConflictError(f"Version {number} can score none of the competitions of {of_phase}.")
        require_not_entered(session, challenge, phase.key, set(removed) & set(phase.competitions))
    for phase in concerned:
        _remove_competitions(session, challenge, phase, removed, user)
    jobs.add(session, Kind.IMPORT, version.id, owner=user.id)
    return removed


def _remove_competitions(
    session: Session, challenge: Challenge, phase: Phase, removed: Collection[str], user: User
) -> None:
    kept = [key for key in phase.competitions if key not in removed]
    changes = {"competitions": {"from": list(phase.competitions), "to": kept}}
    details: dict[str, Any]
    if phase.is_main:
        challenge.competitions = [row for row in challenge.competitions if row.key in kept]
        action, details = "challenge.update", changes
    else:
        next(row for row in challenge.further_phases if row.key == phase.key).competition_keys = kept
        action, details = "phase.update", {"phase": phase.key, "changes": changes}
    session.flush()
    audit.record(session, actor=user, action=action, subject=challenge, details=details)
