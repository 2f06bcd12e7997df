"""What the page of a challenge tells its organisers about the versions of its ground truth."""

import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vocboard.app.challenges import ground_truth_versions as versions
from vocboard.app.challenges.ground_truth import UNFINISHED, needs_confirmation
from vocboard.app.challenges.models import Challenge, GroundTruthVersion, TruthState
from vocboard.app.challenges.phases import phases_of, phases_scored_with
from vocboard.app.pages import wording
from vocboard.app.pages.reports import FileProblems, stored
from vocboard.evaluator.problems import Severity

WAITING = "not_ready"  # the style of a state that waits for the organiser


@dataclass(frozen=True, slots=True)
class CurrentVersion:
    """The version that phases are scored with.

    Attributes:
        phases: titles of the phases that share it.
        has_submissions: whether somebody has submitted to them, if only to rehearse. Then a newer version does not
            become current by itself.
    """

    number: int
    phases: tuple[str, ...]
    has_submissions: bool


@dataclass(frozen=True, slots=True)
class FailedImport:
    """Why a version cannot be used, and what else would have to be confirmed."""

    errors: tuple[FileProblems, ...]
    warnings: tuple[FileProblems, ...]


def current_versions(
    challenge: Challenge, current: Mapping[uuid.UUID, GroundTruthVersion], submitted_to: Collection[uuid.UUID]
) -> Iterator[CurrentVersion]:
    """Tell the version that counts for each phase with ground truth of its own, and for those that share it.

    Args:
        current: the versions, by the id of the phase.
        submitted_to: ids of the phases whose ground truth submissions are scored with.
    """
    for owner in phases_of(challenge):
        if owner.has_own_truth and owner.id in current:
            using = sorted(phases_scored_with(challenge, owner.id), key=lambda phase: not phase.has_own_truth)
            titles = tuple(phase.title for phase in using) if len(challenge.phases) > 1 else ()
            yield CurrentVersion(current[owner.id].number, titles, owner.id in submitted_to)


def changes_by_itself(
    version: GroundTruthVersion, challenge: Challenge, current: GroundTruthVersion | None, has_submissions: bool
) -> bool:
    """Whether a worker is about to import a version, or to let it become current."""
    if version.state is not TruthState.READY:
        return version.state in UNFINISHED
    is_next = current is None or (version.number > current.number and not has_submissions)
    return is_next and not needs_confirmation(version) and not versions.unscorable(challenge, version)


def state_of(version: GroundTruthVersion, challenge: Challenge) -> tuple[str, str]:
    """Return the style and the name of a version's state: of those that were read, what keeps them from being used."""
    if version.state is TruthState.READY and versions.unscorable(challenge, version):
        return WAITING, "Incomplete"
    if version.state is TruthState.READY and needs_confirmation(version):
        return WAITING, "To be confirmed"
    return version.state.value, wording.TRUTH_STATES[version.state]


def failed_import(problems: Sequence[Mapping[str, Any]]) -> FailedImport:
    """Tell the stored problems of a version that could not be imported, errors and warnings apart."""
    errors, warnings = (
        stored(one for one in problems if one["severity"] == severity)
        for severity in (Severity.ERROR, Severity.WARNING)
    )
    return FailedImport(errors, warnings)


def what_is_missing(of_phase: Sequence[GroundTruthVersion], challenge: Challenge) -> str:
    """Say why a phase has no current version.

    Args:
        of_phase: its versions, newest first.
    """
    if not of_phase:
        return "Nobody can submit without it."
    newest = of_phase[0]
    name = f"Version {newest.number}"
    if newest.state in UNFINISHED:
        return f"A worker reads version {newest.number}."
    if newest.state is TruthState.FAILED:
        return f"{name} could not be read."
    if versions.unscorable(challenge, newest):
        return f"{name} cannot score all competitions."
    if needs_confirmation(newest):
        return f"{name} has warnings: confirm them, or upload a corrected tree."
    return f"A worker makes version {newest.number} current next."
