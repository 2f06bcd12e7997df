"""Takes backups and restores them.

The database is copied first, from one snapshot, and then the contents that its rows need: a content never changes, and
is stored before its row is committed. A content that is removed meanwhile is only missed if the rows still need it.
"""

import gzip
import hashlib
import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from nacl.public import PrivateKey, PublicKey
from sqlalchemy import func, select

from vocboard.app.challenges.models import Challenge, ChallengeFile
from vocboard.app.database import Database, now
from vocboard.app.storage.archives import ArchiveStore, DamagedArchiveError
from vocboard.app.storage.local_files import IncomingFile
from vocboard.app.storage.objects import Objects
from vocboard.app.storage.sealed_files import SealError
from vocboard.app.submissions.models import Submission
from vocboard.app.submissions.pruning import batches, needed_contents
from vocboard.commands.backups import database_copy
from vocboard.commands.backups.repository import ARCHIVES, SEALED_TRUTH, TRUTH, File, Repository

_COMPRESSION = 1  # evidence and curves are compressed already; this halves the rest
_ANY_SIZE = 1 << 62


@dataclass(frozen=True, slots=True)
class Installation:
    """What is backed up.

    Attributes:
        url: of the database.
        truth: directory of ground truth, with the workers' keys.
        sealed_truth: ground truth in an object store, sealed to the workers' key; None without such a store.
        withdrawn_kept_for: how long archives of withdrawn submissions are kept.
    """

    database: Database
    url: str
    store: ArchiveStore
    truth: Path
    sealed_truth: Objects | None
    withdrawn_kept_for: timedelta


@dataclass(slots=True)
class Taken:
    """What a backup has.

    Attributes:
        files: number of its contents and files of ground truth.
        added: those that no earlier backup had.
        removed: number of earlier backups that were removed.
        missing: contents that rows need, and that the store does not have, or only damaged.
    """

    name: str
    files: int = 0
    added: int = 0
    removed: int = 0
    missing: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Restored:
    """What was restored, and what is not there.

    Attributes:
        added: files that were restored.
        present: files that were there already.
        missing: sentences about what is in neither the backup nor the store.
        columns: submissions without their columns; workers read their archives again.
        unknown: contents of the store that no row of the restored database needs.
    """

    header: database_copy.Header
    added: int = 0
    present: int = 0
    missing: list[str] = field(default_factory=list)
    columns: int = 0
    unknown: int = 0


def take(of: Installation, repository: Repository, key: PublicKey, *, keep: int | None) -> Taken:
    """Write a backup, sealed to a key.

    Args:
        keep: how many backups are kept, the newest ones; None for all.
    """
    taken = Taken(now().strftime("%Y%m%dT%H%M%S%fZ"))
    with repository.locked():
        _write(of, repository, key, taken)
        # Under the same lock: what another backup has added is not needed by any until that one is complete.
        taken.removed = repository.keep(keep) if keep else 0
    if taken.missing:
        with of.database.reading() as session:
            still = needed_contents(session, withdrawn_kept_for=of.withdrawn_kept_for)
        taken.missing = [sha256 for sha256 in taken.missing if sha256 in still]
    return taken


def _write(of: Installation, repository: Repository, key: PublicKey, taken: Taken) -> None:
    with repository.new(taken.name, key) as (target, files):
        with of.database.snapshot() as session:
            with gzip.GzipFile(fileobj=target, mode="wb", compresslevel=_COMPRESSION) as compressed:  # type: ignore[call-overload]
                database_copy.write(session, compressed)
            needed = needed_contents(session, withdrawn_kept_for=of.withdrawn_kept_for)
        for sha256 in sorted(needed):
            try:
                if not repository.has(sha256):
                    with of.store.open(sha256) as source:
                        repository.add(source, sha256, key)
                    taken.added += 1
                files.append(File(sha256, ARCHIVES, sha256))
            except (FileNotFoundError, DamagedArchiveError):
                taken.missing.append(sha256)
        for part, name, path in _truth_files(of):
            with path.open("rb") as truth:
                sha256 = hashlib.file_digest(truth, "sha256").hexdigest()
                if not repository.has(sha256):
                    truth.seek(0)
                    repository.add(truth, sha256, key)
                    taken.added += 1
            files.append(File(sha256, part, name))
        taken.files = len(files)


def _truth_files(of: Installation) -> Iterator[tuple[str, str, Path]]:
    """Yield the part, the name and the local path of each file of ground truth."""
    for path in sorted(of.truth.iterdir()):
        if path.is_file() and not path.name.startswith("."):  # a worker is still writing it: see `GroundTruth.save`
            yield TRUTH, path.name, path
    for name in sorted(of.sealed_truth.names() if of.sealed_truth else ()):
        with of.sealed_truth.local(name) as path:  # type: ignore[union-attr]
            yield SEALED_TRUTH, name, path


def restore(of: Installation, repository: Repository, name: str, key: PrivateKey) -> Restored:
    """Restore a backup into an empty database; what the store and the directory of ground truth have stays.

    Raises:
        CopyError: the database is not empty, or the backup is not for it.
        SealError: the backup is sealed to another key, or its database is damaged.
    """
    with gzip.GzipFile(fileobj=_Blocks(repository.database(name, key))) as compressed:
        restored = Restored(database_copy.load(of.database, of.url, compressed))
    of.store.set_up()
    of.truth.mkdir(mode=0o700, parents=True, exist_ok=True)
    stored = set(of.store.stored())
    for file in repository.files(name):
        try:
            if file.part == TRUTH:
                restored.present += not _restore_truth(of.truth, file, repository.open(file.sha256, key))
            elif file.part == SEALED_TRUTH:
                restored.present += not _restore_sealed(of, file, repository.open(file.sha256, key))
            elif file.sha256 in stored or of.store.restore(file.sha256):
                restored.present += 1
            else:
                _restore_content(of.store, file, repository.open(file.sha256, key))
        except (FileNotFoundError, SealError) as error:
            restored.missing.append(f"{file.part}/{file.name} cannot be restored: {error}")
        else:
            restored.added += 1
    restored.added -= restored.present
    _compare(of, restored)
    return restored


def _restore_content(store: ArchiveStore, file: File, blocks: Iterator[bytes]) -> None:
    with store.receive(limit=_ANY_SIZE) as incoming:
        for block in blocks:
            incoming.write(block)
        incoming.finish()
        _check(incoming.sha256, file)
        incoming.keep()


def _restore_truth(directory: Path, file: File, blocks: Iterator[bytes]) -> bool:
    """Restore a file of the directory, unless it is there; return whether this was necessary."""
    target = directory / file.name
    if target.exists():
        with target.open("rb") as present:
            _check(hashlib.file_digest(present, "sha256").hexdigest(), file)
        return False
    digest = hashlib.sha256()
    with IncomingFile(directory) as incoming:
        with incoming.path.open("wb") as opened:
            for block in blocks:
                digest.update(block)
                opened.write(block)
        incoming.finish()
        _check(digest.hexdigest(), file)
        incoming.path.replace(target)
    return True


def _restore_sealed(of: Installation, file: File, blocks: Iterator[bytes]) -> bool:
    """Restore ground truth into the object store, unless it is there; return whether this was necessary."""
    if of.sealed_truth is None:
        raise FileNotFoundError("set VOCBOARD_STORE, because it was in an object store")
    if of.sealed_truth.has(file.name):
        return False
    with IncomingFile(of.truth) as incoming:
        with incoming.path.open("wb") as opened:
            opened.writelines(blocks)
        with incoming.path.open("rb") as written:
            _check(hashlib.file_digest(written, "sha256").hexdigest(), file)
        of.sealed_truth.put(incoming.path, file.name)
    return True


def _check(sha256: str, file: File) -> None:
    if sha256 != file.sha256:
        raise SealError(f"it has the SHA-256 {sha256}, and that of the backup is {file.sha256}")


def _compare(of: Installation, restored: Restored) -> None:
    """Compare what the rows need with what is there."""
    stored = set(of.store.stored())
    with of.database.reading() as session:
        needed = needed_contents(session, withdrawn_kept_for=of.withdrawn_kept_for)
        restored.unknown = len(stored - needed)
        for names in batches(iter(sorted(needed - stored))):
            of_submissions = (
                select(Submission.id, Challenge.slug)
                .join(Challenge, Challenge.id == Submission.challenge_id)
                .where(Submission.archive_sha256.in_(names), Submission.has_archive)
            )
            of_challenges = (
                select(ChallengeFile.name, Challenge.slug)
                .join(Challenge, Challenge.id == ChallengeFile.challenge_id)
                .where(ChallengeFile.sha256.in_(names))
            )
            for kind, query in (("the archive of submission", of_submissions), ("the file", of_challenges)):
                restored.missing += [f"{kind} {one} of {slug} is missing" for one, slug in session.execute(query)]
            restored.columns += (
                session.scalar(select(func.count()).where(Submission.columns_sha256.in_(names), Submission.has_archive))
                or 0
            )


class _Blocks(io.BufferedIOBase):
    """A file that consists of blocks."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks, self._rest = blocks, memoryview(b"")

    def readable(self) -> bool:
        """Return True."""
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        """Read from the current block, at most `size` bytes."""
        self._rest = self._rest or memoryview(next(filter(None, self._blocks), b""))
        end = len(self._rest) if size is None or size < 0 else size
        found, self._rest = self._rest[:end], self._rest[end:]
        return bytes(found)
