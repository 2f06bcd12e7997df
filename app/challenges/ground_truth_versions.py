"""What organisers do with versions of ground truth once they have been imported: confirm, remove, make room for."""

from collections.abc import Mapping

from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.audit import service as audit
from vocboard.app.challenges import queries
from vocboard.app.challenges.ground_truth import needs_confirmation
from vocboard.app.challenges.models import MAIN_PHASE, Challenge, GroundTruthVersion, TruthState
from vocboard.app.challenges.phases import competitions_scored_with, edition_of_phase, lock_to_change, phases_of
from vocboard.app.database import now
from vocboard.app.errors import ConflictError, NotFoundError

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
    """Say that what the import has warned of is meant, so that the version can become current; done, nothing changes.

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
    """Remove the competitions from a challenge that a version cannot score; return their keys.

    After the commit, the caller notifies the `WorkerNotifier`.

    Raises:
        NotFoundError: there is no such version.
        ConflictError: it is not ready, is of a further phase, or would leave no competition; a competition has
            submissions, or is one of a further phase; or the challenge is archived.
    """
    lock_to_change(session, challenge)
    version = get(session, challenge, number)
    if version.state is not TruthState.READY:
        raise ConflictError(f"Version {number} is {version.state}.")
    if version.phase_key != MAIN_PHASE:
        raise ConflictError("Change the competitions of this phase on its own page.")
    removed = list(unscorable(challenge, version))
    kept = [row for row in challenge.competitions if row.key not in removed]
    if not kept:
        raise ConflictError(f"Version {number} can score none of the challenge's competitions.")
    entered = queries.entered_competitions(session, challenge.id, MAIN_PHASE)
    if has_submissions := [key for key in removed if key in entered]:
        raise ConflictError(f"{', '.join(has_submissions)} cannot be removed because there are submissions.")
    further = {key for each in phases_of(challenge) if not each.is_main for key in each.competitions}
    if in_phases := [key for key in removed if key in further]:
        raise ConflictError(f"Remove {', '.join(in_phases)} from the challenge's other phases first.")
    before = [row.key for row in challenge.competitions]
    challenge.competitions = kept
    session.flush()
    if removed:
        details = {"competitions": {"from": before, "to": [row.key for row in kept]}}
        audit.record(session, actor=user, action="challenge.update", subject=challenge, details=details)
    return removed
