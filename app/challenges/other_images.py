"""Whether a version of the ground truth is for other images than the current one: most likely uploaded by mistake."""

import gzip
import uuid
from collections.abc import Mapping

from sqlalchemy.orm import Session

from vocboard.app.challenges import queries
from vocboard.app.challenges.models import ChallengePhase, GroundTruthVersion
from vocboard.evaluator.image_sets import ImageSets
from vocboard.evaluator.problems import Problem, Severity, counted

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
    version = queries.truth_version_by_id(session, version_id)
    current = queries.truth_of_scoring(session, session.get_one(ChallengePhase, version.phase_id).current_scoring_id)
    before = None if current is None else images_of_version(session, current.id)
    if current is None or before is None:
        return None
    missing = {key: before[key] - after.get(key, frozenset()) for key in before}
    if is_example and any(missing.values()):
        return EXAMPLE_TREE
    added = {key: after[key] - before[key] for key in before.keys() & after.keys()}
    if not any((*missing.values(), *added.values())) or not queries.is_submitted_to(session, version.phase_id):
        return None
    message = _message(current, number_of(missing), number_of(added), number_of(before), after)
    return Problem("other_images", Severity.WARNING, message)


def _message(current: GroundTruthVersion, missing: int, added: int, before: int, after: Images) -> str:
    if not missing:
        return (
            f"This tree has {counted(added, 'image')} more than version {current.number}, the current one, which has "
            f"{counted(before, 'image')}. Submissions have no results for them."
        )
    return (
        f"{missing:,} of the {counted(before, 'image')} of version {current.number}, the current one, are not in "
        f"this tree, which has {counted(number_of(after), 'image')}. Results for them would be lost."
    )
