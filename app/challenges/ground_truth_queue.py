"""Uploaded ground truth in the queue: what becomes of a version when it is imported, and when it becomes current.

One version is imported at a time, however many workers there are: a large one takes a process for minutes, and the
others are for evaluations.
"""

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from vocboard.app.challenges import queries
from vocboard.app.challenges.editions import edition_from
from vocboard.app.challenges.ground_truth import UNFINISHED, make_current, needs_confirmation, start_scoring
from vocboard.app.challenges.models import Challenge, ChallengePhase, GroundTruthVersion, TruthState
from vocboard.app.challenges.other_images import images_in, objection
from vocboard.app.challenges.phases import Phase, competitions_scored_with, on_image_set, phases_of
from vocboard.app.jobs import service as jobs
from vocboard.app.jobs.service import Claim
from vocboard.evaluator.editions import Edition
from vocboard.evaluator.problems import Problem, Severity

MAX_PROBLEMS = 200  # stored problems; the rest are only counted
_STOPPED = Problem(
    "import_stopped",
    Severity.ERROR,
    "The import repeatedly stopped the worker. Ask the operator to check the worker's log.",
)


@dataclass(frozen=True, slots=True)
class ImportedTruth:
    """The data about ground truth that the database stores.

    Attributes:
        sha256: of its canonical content.
        summary: for organisers alone, by task and image set (`detection/test`): `images`, and where there are any
            `people`, `classes` (counts by class, with a `Total`) and `missing`, why it cannot be scored.
        competitions: keys of those it can score.
        image_sets: its public half, from `pack_image_sets`.
        warnings: what an organiser has to confirm.
        is_example: whether it is the sample tree of an edition.
    """

    sha256: str
    summary: dict[str, Any]
    competitions: tuple[str, ...]
    image_sets: bytes
    warnings: tuple[Problem, ...] = ()
    is_example: bool = False


def begin(session: Session, claim: Claim) -> Edition | None:
    """Mark a version as being imported, and return the edition to read it by; None if it has been read already."""
    version = session.get(GroundTruthVersion, claim.key, with_for_update=True)
    if version is None or version.state not in UNFINISHED:
        return None
    version.state = TruthState.IMPORTING
    row = session.execute(
        select(Challenge.edition, Challenge.edition_file, ChallengePhase.image_set)
        .join(GroundTruthVersion, GroundTruthVersion.challenge_id == Challenge.id)
        .join(ChallengePhase, ChallengePhase.id == GroundTruthVersion.phase_id)
        .where(GroundTruthVersion.id == claim.key)
    ).one()
    return on_image_set(edition_from(row.edition, row.edition_file), row.image_set)


def finish(session: Session, claim: Claim, imported: ImportedTruth) -> None:
    """Store the result of an import.

    Raises:
        LostClaimError: nothing may be stored.
    """
    warnings = [problem.as_json() for problem in imported.warnings[:MAX_PROBLEMS]]
    found = objection(session, claim.key, images_in(imported.image_sets), is_example=imported.is_example)
    if found is not None and found.severity is Severity.ERROR:
        return refuse(session, claim, (found,))
    values = {
        "state": TruthState.READY,
        "sha256": imported.sha256,
        "summary": imported.summary,
        "competitions": list(imported.competitions),
        "image_sets": imported.image_sets,
        "warnings": warnings if found is None else [found.as_json(), *warnings],
    }
    return _end(session, claim, values)


def refuse(session: Session, claim: Claim, problems: Sequence[Problem]) -> None:
    """Store why a version cannot be imported.

    Raises:
        LostClaimError: nothing may be stored.
    """
    _end(session, claim, {"state": TruthState.FAILED, "problems": _as_stored(problems)})


def give_up(session: Session, claim: Claim) -> None:
    """Refuse a version whose import has repeatedly stopped workers."""
    refuse(session, claim, (_STOPPED,))


def _end(session: Session, claim: Claim, values: dict[str, Any]) -> None:
    of_version = GroundTruthVersion.id == claim.key, GroundTruthVersion.state.in_(UNFINISHED)
    ending = update(GroundTruthVersion).where(*of_version).values(**values)
    session.execute(ending.execution_options(synchronize_session=False))
    jobs.finish(session, claim)


def start_scorings(session: Session) -> int:
    """Let versions become current that need no re-score.

    In each phase with ground truth of its own, that is the newest version that can score all competitions and needs no
    confirmation, if the phase has no current version, or an older one that nobody has submitted to. What came with an
    imported challenge needs a re-score.

    Returns:
        The number of phases with a new current version.
    """
    started = 0
    for found in list(dict.fromkeys(challenge.id for challenge, _, _ in _startable(session))):
        # Nobody can submit from here on, because that locks the challenge, too.
        queries.lock_challenge(session, found)
        queries.challenge_as_it_is(session, found)
        for challenge, phase, version in list(_startable(session, found)):
            scoring = start_scoring(session, challenge=challenge, version=version)
            make_current(session, challenge=challenge, scoring=scoring, actor=None, phase_id=phase.id)
            started += 1
    return started


def _startable(
    session: Session, challenge_id: uuid.UUID | None = None
) -> Iterator[tuple[Challenge, Phase, GroundTruthVersion]]:
    """Find what `start_scorings` starts, in all challenges or one."""
    for challenge in queries.challenges_with_new_truth(session, challenge_id):
        versions = queries.truth_versions(session, challenge.id)
        for phase in phases_of(challenge):
            if not phase.has_own_truth:
                continue
            current = queries.truth_of_scoring(session, phase.scoring_id)
            # Results of another server count until a re-score replaces them.
            has_results = current is not None or challenge.imported_at is not None
            if has_results and queries.is_submitted_to(session, phase.id):
                continue
            needed = set(competitions_scored_with(challenge, phase.id))
            for version in versions:
                if version.phase_id != phase.id or version.state is not TruthState.READY:
                    continue
                if current is not None and version.number <= current.number:
                    break
                if not needs_confirmation(version) and needed <= set(version.competitions or ()):
                    yield challenge, phase, version
                    break


def waiting_versions(session: Session) -> set[uuid.UUID]:
    """Return the ids of versions whose encrypted upload is still needed."""
    return set(session.scalars(select(GroundTruthVersion.id).where(GroundTruthVersion.state.in_(UNFINISHED))))


def _as_stored(problems: Sequence[Problem]) -> list[dict[str, Any]]:
    stored = [problem.as_json() for problem in problems[:MAX_PROBLEMS]]
    if (more := len(problems) - MAX_PROBLEMS) > 0:
        stored.append(Problem("more_problems", Severity.ERROR, f"There are {more} more problems.").as_json())
    return stored
