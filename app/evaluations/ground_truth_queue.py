"""Uploaded ground truth in the queue: what becomes of a version when it is imported, and when it becomes current.

One version is imported at a time, however many workers there are: a large one takes a process for minutes, and the
others are for evaluations.
"""

import gzip
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from vocboard.app.challenges import queries
from vocboard.app.challenges.editions import edition_from
from vocboard.app.challenges.ground_truth import UNFINISHED
from vocboard.app.challenges.models import Challenge, ChallengePhase, GroundTruthVersion, TruthState
from vocboard.app.challenges.phases import on_image_set
from vocboard.app.jobs import service as jobs
from vocboard.app.jobs.service import Claim
from vocboard.app.submissions import queries as submission_queries
from vocboard.evaluator.editions import Edition
from vocboard.evaluator.image_sets import ImageSets
from vocboard.evaluator.problems import Problem, Severity, counted

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


def waiting_versions(session: Session) -> set[uuid.UUID]:
    """Return the ids of versions whose encrypted upload is still needed."""
    return set(session.scalars(select(GroundTruthVersion.id).where(GroundTruthVersion.state.in_(UNFINISHED))))


def _as_stored(problems: Sequence[Problem]) -> list[dict[str, Any]]:
    stored = [problem.as_json() for problem in problems[:MAX_PROBLEMS]]
    if (more := len(problems) - MAX_PROBLEMS) > 0:
        stored.append(Problem("more_problems", Severity.ERROR, f"{counted(more, 'more problem')}.").as_json())
    return stored


Images = Mapping[str, frozenset[str]]  # identifiers by task and image set: `detection/test`

EXAMPLE_TREE = Problem(
    "example_tree",
    Severity.ERROR,
    "This is the sample tree of the edition, and the challenge has other ground truth: all results would be lost. "
    "Rehearse with it in a challenge of its own, before that has ground truth.",
)


def images_in(packed: bytes) -> Images:
    """Return the images of image sets in the database's format, by task and image set."""
    found = ImageSets.from_json(gzip.decompress(packed))
    return {f"{task}/{name}": frozenset(one.images) for (task, name), one in found.sets.items()}


def images_of_version(session: Session, version_id: uuid.UUID) -> Images | None:
    """Return the images of a version; None if nothing is stored of it."""
    packed = queries.image_sets_of(session, version_id)
    return None if packed is None else images_in(packed)


def number_of(images: Images) -> int:
    """Return how many different images there are."""
    return len(frozenset().union(*images.values()))


def objection(session: Session, version_id: uuid.UUID, after: Images, *, is_example: bool) -> Problem | None:
    """Return what speaks against a version that was just read; None if it has the images of the current one.

    Args:
        version_id: of the version.
        after: its images.
        is_example: whether it is the sample tree of an edition.

    Returns:
        An error for the sample tree, if the current version is not the same; a warning for missing or additional images
        of an image set that the current version can score, if there are submissions.
    """
    version = session.get_one(GroundTruthVersion, version_id)
    current = queries.truth_of_scoring(session, session.get_one(ChallengePhase, version.phase_id).current_scoring_id)
    before = None if current is None else images_of_version(session, current.id)
    if current is None or before is None:
        return None
    missing = {key: before[key] - after.get(key, frozenset()) for key in before}
    if is_example and any(missing.values()):
        return EXAMPLE_TREE
    added = {key: after[key] - before[key] for key in before.keys() & after.keys()}
    differ = any((*missing.values(), *added.values()))
    if not differ or not submission_queries.is_submitted_to(session, version.phase_id):
        return None
    message = _message(current, number_of(missing), number_of(added), number_of(before), after)
    return Problem("other_images", Severity.WARNING, message)


def _message(current: GroundTruthVersion, missing: int, added: int, before: int, after: Images) -> str:
    if not missing:
        return (
            f"The image sets of this tree have {counted(added, 'image')} more than those of version {current.number}, "
            f"the current one, which has {counted(before, 'image')}. Submissions have no results for them."
        )
    return (
        f"{missing:,} of the {counted(before, 'image')} of version {current.number}, the current one, are not in the "
        f"same image set of this tree, which has {counted(number_of(after), 'image')}. Results for them would be lost."
    )
