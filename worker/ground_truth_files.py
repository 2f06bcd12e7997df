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
from vocboard.app.storage.local_cache import LocalCache
from vocboard.app.storage.local_files import StoreUnavailableError
from vocboard.app.storage.moving_objects import MovingObjects
from vocboard.app.storage.objects import Objects
from vocboard.app.storage.sealed_files import BLOCK_BYTES, SealError, SealingStream, unseal
from vocboard.app.storage.stores import sealed_truth
from vocboard.evaluator.ground_truth import GroundTruth, GroundTruthFileError
from vocboard.worker.ground_truth_directory import GroundTruthDirectory, LostKeyError

_SUFFIX = ".npz"
KEPT = 2  # cached per process: the next submission is usually for the same challenge

_log = logging.getLogger(__name__)


def path_of(settings: Settings, sha256: str) -> Path:
    """Return the path of ground truth in the workers' directory, whether or not it exists; see `GroundTruth.save`."""
    return settings.truth / f"{sha256}{_SUFFIX}"


def save(settings: Settings, truth: GroundTruth) -> None:
    """Keep imported ground truth: in the directory, or sealed in the object store."""
    if not settings.store:
        truth.save(path_of(settings, truth.sha256))
        return
    copy = _copies(settings) / f"{truth.sha256}{_SUFFIX}"
    copy.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    truth.save(copy)
    _seal(settings, copy, truth.sha256)


def load(settings: Settings, sha256: str) -> GroundTruth:
    """Return ground truth, cached because its content never changes.

    From an object store, also the former one, it is decrypted into a cache in the directory that only workers can read.

    Raises:
        FileNotFoundError: there is none.
        GroundTruthFileError, OSError: as for `GroundTruth.load`.
    """
    path = path_of(settings, sha256)
    if not path.exists() and sealed_truth(settings) is not None:
        cache = LocalCache(_copies(settings), settings.store_cache_bytes)
        path = cache.path(path.name, lambda copy: _unseal(settings, sha256, copy.path))
    path.stat()  # what has been removed is missing, although this process has read it
    return read(path)


def move(settings: Settings) -> None:
    """Bring what the former place alone has of the ground truth to the present one, and leave it there, too."""
    sealed = sealed_truth(settings)
    if not settings.former_store or sealed is None:
        return
    if isinstance(sealed, MovingObjects):  # from one object store to another
        sealed.copy()
    in_store = set(sealed.names())
    in_directory = {path.name for path in settings.truth.glob(f"*{_SUFFIX}")}
    if settings.store:
        for name in in_directory - in_store:
            _seal(settings, settings.truth / name, name.removesuffix(_SUFFIX))
    else:
        for name in in_store - in_directory:
            with GroundTruthDirectory(settings).temporary() as plain:
                _unseal(settings, name.removesuffix(_SUFFIX), plain)
                plain.replace(settings.truth / name)


@lru_cache(maxsize=KEPT)
def read(path: Path) -> GroundTruth:
    """Return the ground truth in a file; see `load`."""
    return GroundTruth.load(path)


def _copies(settings: Settings) -> Path:
    return settings.truth / "cache"


def _sealed(settings: Settings) -> Objects:
    sealed = sealed_truth(settings)
    if sealed is None:
        raise FileNotFoundError("there is no object store")
    return sealed


def _seal(settings: Settings, plain: Path, sha256: str) -> None:
    key = GroundTruthDirectory(settings).private_key().public_key
    with GroundTruthDirectory(settings).temporary() as sealed:
        with plain.open("rb") as source, sealed.open("wb") as target:
            stream = SealingStream(target, key, purpose=_purpose(sha256))
            while chunk := source.read(BLOCK_BYTES):
                stream.write(chunk)
            stream.finish()
        _sealed(settings).put(sealed, f"{sha256}{_SUFFIX}")


def _unseal(settings: Settings, sha256: str, target: Path) -> None:
    key = GroundTruthDirectory(settings).private_key()
    with _sealed(settings).local(f"{sha256}{_SUFFIX}") as sealed, target.open("wb") as plain:
        try:
            plain.writelines(unseal(sealed, key, purpose=_purpose(sha256)))
            plain.flush()
            os.fsync(plain.fileno())
        except SealError as error:
            raise GroundTruthFileError(f"the ground truth {sha256} in the store cannot be opened: {error}") from error


def _purpose(sha256: str) -> bytes:
    return f"imported ground truth {sha256}".encode()


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
        try:
            _, missing = needed_and_missing(session, self._settings)
        except StoreUnavailableError as error:
            place = self._settings.store or self._settings.former_store
            missing = [f"cannot read the ground truth in {place}: {error}"]
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
    sealed = sealed_truth(settings)
    kept = set(sealed.names()) if sealed is not None else set[str]()
    paths = [(row, path_of(settings, row.sha256)) for row in found]
    missing = [
        f"cannot read {f'{settings.store}: {path.name}' if settings.store else path}, the ground truth of {row.slug} "
        f"(version {row.number}): restore it from a backup, or upload it again"
        for row, path in paths
        if path.name not in kept and not os.access(path, os.R_OK)
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
            f"vocboard worker: none of the ground truth can be read: {missing[0]}. Do all workers share "
            f"{settings.store or settings.truth}?"
        )
    for path in settings.truth.glob("*.npz"):
        if path.stat().st_mode & 0o077:  # earlier versions let others read them
            path.chmod(0o600)
