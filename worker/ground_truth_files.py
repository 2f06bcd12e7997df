"""Files of imported ground truth, which only workers can read, and whether this worker can."""

import logging
import os
import time
from collections.abc import Sequence
from contextlib import closing, suppress
from functools import lru_cache
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from vocboard.app.challenges.models import Challenge, ChallengePhase, GroundTruthVersion, Scoring
from vocboard.app.database import Database
from vocboard.app.jobs.heartbeats import GROUND_TRUTH, INTERVAL, Heartbeat
from vocboard.app.settings import Settings
from vocboard.evaluator.ground_truth import GroundTruth
from vocboard.worker.ground_truth_directory import GroundTruthDirectory, LostKeyError

KEPT = 2  # cached per process: the next submission is usually for the same challenge

_log = logging.getLogger(__name__)


def path_of(settings: Settings, sha256: str) -> Path:
    """Return the path of ground truth with this hash, whether or not it exists; see `GroundTruth.save`."""
    return settings.truth / f"{sha256}.npz"


@lru_cache(maxsize=KEPT)
def load(path: Path) -> GroundTruth:
    """Return stored ground truth, cached because its content never changes.

    Raises:
        GroundTruthFileError, OSError: as for `GroundTruth.load`.
    """
    return GroundTruth.load(path)


class GroundTruthFiles:
    """Checks them periodically; the heartbeat of the kind `GROUND_TRUTH` stops while any file cannot be read."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self._settings = settings
        self._heartbeat = Heartbeat(database, kind=GROUND_TRUTH)
        self._next = float("-inf")  # time.monotonic()
        self._missing: Sequence[str] = []

    def check(self, session: Session) -> None:
        """Check them, unless that was done within the last `INTERVAL`, and log what has changed."""
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + INTERVAL.total_seconds()
        _, missing = needed_and_missing(session, self._settings)
        if missing != self._missing:
            if missing:
                _log.error("; ".join(missing))
            else:
                _log.info("all ground truth can be read again")
        self._missing = missing
        if not missing:
            self._heartbeat.record()

    def stop(self) -> None:
        """Remove the heartbeat."""
        self._heartbeat.stop()


def needed_and_missing(session: Session, settings: Settings) -> tuple[int, list[str]]:
    """Return how many files challenges that are not archived are scored with, and what is wrong with those missing."""
    current = Scoring.id.in_(select(ChallengePhase.current_scoring_id))
    query = (
        select(Challenge.slug, GroundTruthVersion.number, GroundTruthVersion.sha256)
        .select_from(Scoring)
        .join(GroundTruthVersion, GroundTruthVersion.id == Scoring.ground_truth_version_id)
        .join(Challenge, Challenge.id == GroundTruthVersion.challenge_id)
        .where(current, Challenge.archived_at.is_(None), GroundTruthVersion.sha256.is_not(None))
        .order_by(Challenge.slug, GroundTruthVersion.number)
    )
    found = session.execute(query).all()
    paths = [(row, path_of(settings, row.sha256)) for row in found]
    missing = [
        f"cannot read {path}, the ground truth of {row.slug} (version {row.number}): restore it from a backup, or "
        "upload it again"
        for row, path in paths
        if not os.access(path, os.R_OK)
    ]
    return len(paths), missing


def require(settings: Settings) -> None:
    """Check that a worker that is about to start has the directory with the ground truth, and close it to others.

    If only some files are missing, it starts: it can import them again, and score the rest. Creates the key pair, so
    that ground truth can be uploaded.

    Raises:
        SystemExit: none of the files that are needed can be read, or the private key has been lost.
    """
    try:
        GroundTruthDirectory(settings).private_key()
    except LostKeyError as error:
        raise SystemExit(f"vocboard worker: {error}") from error
    needed, missing = 0, list[str]()
    with suppress(OperationalError), closing(Database(settings.database)) as database, database.reading() as session:
        needed, missing = needed_and_missing(session, settings)
    if needed and len(missing) == needed:
        raise SystemExit(
            f"vocboard worker: none of the ground truth can be read: {missing[0]}. Is {settings.truth} the directory "
            "that all workers share?"
        )
    for path in settings.truth.glob("*.npz"):
        if path.stat().st_mode & 0o077:  # earlier versions let others read them
            path.chmod(0o600)
