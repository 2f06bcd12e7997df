"""Ground truth of challenges in the web process: versions, their state, and their public part."""

import gzip
import threading
import uuid
from collections.abc import Sequence

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.audit import service as audit
from vocboard.app.audit.service import Actor
from vocboard.app.challenges import queries
from vocboard.app.challenges.models import Challenge, GroundTruthVersion, Scoring
from vocboard.app.challenges.phases import require_not_archived
from vocboard.app.errors import ConflictError
from vocboard.app.evaluations.models import Evaluation
from vocboard.app.forms.characters import cleaned
from vocboard.app.submissions.models import Submission
from vocboard.evaluator.image_sets import ImageSets

LONGEST_FILE_NAME = 255
IMAGE_SETS_KEPT = 16  # cached; a version's image sets never change

_kept: dict[uuid.UUID, ImageSets] = {}
_keeping = threading.Lock()


def add_ground_truth_version(
    session: Session, *, challenge: Challenge, user: User, file_name: str, version_id: uuid.UUID
) -> GroundTruthVersion:
    """Register an upload of ground truth that is encrypted in the inbox under `version_id`, for import by a worker.

    Args:
        file_name: name of the organiser's file, for display.

    Raises:
        ConflictError: the challenge is archived.
    """
    require_not_archived(challenge)
    queries.lock_challenge(session, challenge.id)
    name = file_name.replace("\\", "/").rsplit("/", 1)[-1][-LONGEST_FILE_NAME:]
    version = GroundTruthVersion(
        id=version_id,
        challenge_id=challenge.id,
        number=queries.last_truth_number(session, challenge.id) + 1,
        uploaded_by_id=user.id,
        file_name=cleaned(name),
    )
    session.add(version)
    details = {"challenge": str(challenge.id), "number": version.number, "file_name": version.file_name}
    audit.record(session, actor=user, action="ground_truth.upload", subject=version, details=details)
    return version


def ground_truth_versions(session: Session, challenge: Challenge) -> Sequence[GroundTruthVersion]:
    """Return all versions, newest first; for organisers only."""
    return queries.truth_versions(session, challenge.id)


def needs_confirmation(version: GroundTruthVersion) -> bool:
    """Whether an organiser has to confirm the warnings of a version before it can become current."""
    return bool(version.warnings) and version.confirmed_at is None


def current_truth(session: Session, challenge: Challenge) -> GroundTruthVersion | None:
    """Return the version that submissions are scored against; None if none is ready yet."""
    return queries.current_truth(session, challenge)


def current_image_sets(session: Session, challenge: Challenge) -> ImageSets:
    """Return the public part of the current ground truth; cached, because versions never change.

    Raises:
        ConflictError: the challenge has no ground truth yet.
    """
    truth = _current_or_conflict(session, challenge)
    return _image_sets(session, truth.id)


def image_sets_json(session: Session, challenge: Challenge) -> bytes:
    """Return the same as JSON (`evaluator.image_sets.ImageSets.to_json`), for offline validation.

    Raises:
        ConflictError: the challenge has no ground truth yet.
    """
    return _stored_json(session, _current_or_conflict(session, challenge).id)


def pack_image_sets(image_sets: ImageSets) -> bytes:
    """Return image sets in the database's format."""
    return gzip.compress(image_sets.to_json().encode(), mtime=0)


def start_scoring(session: Session, *, challenge: Challenge, version: GroundTruthVersion) -> Scoring:
    """Add a scoring against a version that is ready. `make_current` puts it into effect."""
    scoring = Scoring(challenge_id=challenge.id, ground_truth_version_id=version.id)
    session.add(scoring)
    session.flush()
    return scoring


def make_current(session: Session, *, challenge: Challenge, scoring: Scoring, actor: Actor | None) -> None:
    """Let a round of scoring count from now on: the one switch of what boards and results show.

    A submission without an evaluation in this scoring has no result from now on.
    """
    before, challenge.current_scoring_id = challenge.current_scoring_id, scoring.id
    evaluation = select(Evaluation.id).where(
        Evaluation.submission_id == Submission.id, Evaluation.scoring_id == scoring.id
    )
    session.execute(
        update(Submission)
        .where(Submission.challenge_id == challenge.id)
        .values(current_evaluation_id=evaluation.scalar_subquery())
        .execution_options(synchronize_session=False)
    )
    details = {
        "from": str(before) if before else None,
        "to": str(scoring.id),
        "ground_truth_version": str(scoring.ground_truth_version_id),
    }
    audit.record(session, actor=actor, action="challenge.make_scoring_current", subject=challenge, details=details)


def _current_or_conflict(session: Session, challenge: Challenge) -> GroundTruthVersion:
    truth = queries.current_truth(session, challenge)
    if truth is None:
        raise ConflictError("This challenge has no ground truth yet.")
    return truth


def _stored_json(session: Session, version_id: uuid.UUID) -> bytes:
    packed = queries.image_sets_of(session, version_id)
    if packed is None:
        raise ConflictError("This ground truth is not ready.")
    return gzip.decompress(packed)


def _image_sets(session: Session, version_id: uuid.UUID) -> ImageSets:
    with _keeping:
        if known := _kept.get(version_id):
            return known
    image_sets = ImageSets.from_json(_stored_json(session, version_id))
    with _keeping:
        while len(_kept) >= IMAGE_SETS_KEPT:
            del _kept[next(iter(_kept))]  # the oldest
        return _kept.setdefault(version_id, image_sets)
