"""What the page of a challenge tells its organisers about its ground truth: versions, and their numbers as tables."""

import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vocboard.app.challenges import ground_truth as versions
from vocboard.app.challenges.ground_truth import UNFINISHED, needs_confirmation
from vocboard.app.challenges.models import Challenge, GroundTruthVersion, TruthState
from vocboard.app.challenges.phases import phases_of, phases_scored_with
from vocboard.app.pages import wording
from vocboard.app.pages.reports import FileProblems, stored
from vocboard.evaluator.problems import Severity

WAITING = "not_ready"  # the style of a state that waits for the organiser
_ORDER = ("train", "val", "trainval", "test")  # as in the documents' tables; other sets follow


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


def versions_scored_with(
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
    is_next = current is None or version.number > current.number
    if has_submissions and (current is not None or challenge.imported_at is not None):
        return False  # there are results, which a re-score replaces
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


def what_is_missing(of_phase: Sequence[GroundTruthVersion], challenge: Challenge, has_submissions: bool) -> str:
    """Say why a phase has no current version.

    Args:
        of_phase: its versions, newest first.
        has_submissions: whether anybody has submitted to it.
    """
    if not of_phase or of_phase[0].state is TruthState.ELSEWHERE:
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
    return (
        f"Score with version {newest.number}: until then, the results of the other server count."
        if has_submissions and challenge.imported_at is not None
        else f"A worker makes version {newest.number} current next."
    )


@dataclass(frozen=True, slots=True)
class ImageSetColumns:
    """What a table says of one image set.

    Attributes:
        totals: numbers of the whole set: images, and people where a task names them.
        columns: what is counted in each class, such as images and objects.
        missing: why the set cannot be scored; empty if it can.
    """

    name: str
    totals: Mapping[str, int]
    columns: tuple[str, ...]
    missing: str


@dataclass(frozen=True, slots=True)
class TruthTable:
    """The numbers of one task.

    Attributes:
        rows: name of the class, and a number for each column of each set; None where nothing is counted.
    """

    task: str
    sets: tuple[ImageSetColumns, ...]
    rows: tuple[tuple[str, tuple[int | None, ...]], ...]


def truth_tables(summary: Mapping[str, Any] | None) -> list[TruthTable]:
    """Return the tables for the summary of a version (`GroundTruthVersion.summary`), in its order of tasks."""
    by_task: dict[str, dict[str, Mapping[str, Any]]] = {}
    for key, numbers in (summary or {}).items():
        task, _, name = key.partition("/")
        by_task.setdefault(task, {})[name] = numbers
    return [_table(task, sets) for task, sets in by_task.items()]


def _table(task: str, sets: Mapping[str, Mapping[str, Any]]) -> TruthTable:
    names = sorted(sets, key=lambda name: (_ORDER.index(name) if name in _ORDER else len(_ORDER), name))
    found = tuple(_columns(name, sets[name]) for name in names)
    classes = dict.fromkeys(one for name in names for one in sets[name].get("classes", {}))
    rows = []
    for one in classes:
        counted = [
            sets[of_set.name].get("classes", {}).get(one, {}).get(key) for of_set in found for key in of_set.columns
        ]
        rows.append((one, tuple(counted)))
    return TruthTable(task, found, tuple(rows))


def _columns(name: str, numbers: Mapping[str, Any]) -> ImageSetColumns:
    columns = dict.fromkeys(key for counted in numbers.get("classes", {}).values() for key in counted)
    totals = {key: value for key, value in numbers.items() if isinstance(value, int)}
    return ImageSetColumns(name, totals, tuple(columns), numbers.get("missing", ""))
