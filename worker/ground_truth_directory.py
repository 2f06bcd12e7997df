"""The directory with imported ground truth and the private key, which only workers can read."""

import hmac
import os
import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from uuid import UUID

from nacl.public import PrivateKey

from vocboard.app.database import now
from vocboard.app.errors import ConflictError
from vocboard.app.settings import Settings
from vocboard.app.storage.ground_truth_inbox import PUBLIC_KEY_FILE, UNANNOUNCED_FOR
from vocboard.app.storage.local_files import IncomingFile, remove_abandoned
from vocboard.app.storage.stores import ground_truth_inbox
from vocboard.worker.process import UnreadableTruthError

PRIVATE_KEY_FILE = "worker.private-key"
NOISE_KEY_FILE = "noise.key"  # there after a rotation
_FORMER = "former.private-key-"
_SCRATCH = "scratch"
_TEMPORARY_PREFIX = "temporary-"
_UNFINISHED_FOR = timedelta(hours=1)  # longer than `GroundTruth.save` takes, which locks no file


class LostKeyError(UnreadableTruthError):
    """The private key is missing, and a new one would not open what was encrypted for it."""


class GroundTruthDirectory:
    """The directory `Settings.truth`, created on first use without access for other users."""

    def __init__(self, settings: Settings) -> None:
        self._directory = settings.truth
        self._key_path = settings.truth_key_file or settings.truth / PRIVATE_KEY_FILE
        self._inbox = ground_truth_inbox(settings)
        self._shares_no_directory = bool(settings.store)
        self._may_rotate = not (settings.store or settings.former_store or settings.truth_key_file)

    def scratch(self, version_id: UUID, lease_id: UUID) -> Path:
        """Return the path for decrypting an upload."""
        directory = self._made() / _SCRATCH
        directory.mkdir(mode=0o700, exist_ok=True)
        return directory / f"{version_id}.{lease_id}"

    @contextmanager
    def temporary(self) -> Iterator[Path]:
        """Yield the path of an empty file, which is removed in the end, also if this process is killed."""
        directory = self._made() / _SCRATCH
        directory.mkdir(mode=0o700, exist_ok=True)
        with IncomingFile(directory, prefix=_TEMPORARY_PREFIX) as file:
            yield file.path

    def scratch_files(self) -> Sequence[Path]:
        """Return the paths of decrypted uploads."""
        return list((self._made() / _SCRATCH).glob("*.*"))

    def remove_scratch(self, files: Sequence[Path], *, but: Collection[UUID]) -> None:
        """Remove files of killed workers.

        Args:
            files: decrypted uploads, which were listed before `but` was read: an import may have begun since.
            but: versions whose import may be in progress.
        """
        remove_abandoned((self._made() / _SCRATCH).glob(f"{_TEMPORARY_PREFIX}*"))
        remove_abandoned(self._made().glob(".*.npz.*"), older_than=_UNFINISHED_FOR)
        for path in files:
            if path.stem not in {str(version_id) for version_id in but}:
                path.unlink(missing_ok=True)

    def private_key(self) -> PrivateKey:
        """Return the private key for uploads. The first call creates it and publishes the public key in the inbox.

        Raises:
            LostKeyError: it is missing, but was there before; or it cannot be read.
        """
        self._made()
        self._inbox.set_up()
        path = self._key_path
        was_published = self._inbox.has_key()  # before the next line: another worker may be making both now
        if not path.exists() and was_published:
            raise LostKeyError(
                f"{path} is missing, the private key that opens uploads of ground truth. Restore it from the backup of "
                f"{self._directory} (the volume truth), or copy it from another worker. If there is none, delete "
                f"{PUBLIC_KEY_FILE} from the inbox of ground truth and move the other files of the directory away: a "
                "new key is made, and all ground truth has to be uploaded again."
            )
        if not path.exists():
            self._make_key(path)
        try:
            key = PrivateKey(path.read_bytes())
        except (OSError, ValueError, TypeError) as error:
            what = f"{path} cannot be used as the private key, which has {PrivateKey.SIZE} bytes"
            raise LostKeyError(f"{what}: {error}") from error
        if self._shares_no_directory and was_published and self._inbox.public_key() != key.public_key:
            raise LostKeyError(f"{path} is not the private key of the other workers: give this worker a copy of theirs")
        self._inbox.publish_key(key.public_key)
        return key

    def private_keys(self) -> Sequence[PrivateKey]:
        """Return the private key, and former ones that uploads may still be sealed to."""
        former = [PrivateKey(path.read_bytes()) for path in self._made().glob(f"{_FORMER}*")]
        return [self.private_key(), *former]

    def noise_key(self) -> bytes:
        """Return the key of the noise in shares of diagnoses, which follows from the first private key.

        It stays the same: the mean over several noises would show what the noise hides.
        """
        path = self._made() / NOISE_KEY_FILE
        if path.exists():
            return path.read_bytes()
        return hmac.digest(bytes(self.private_key()), b"noise of diagnoses", "sha256")

    def rotate(self) -> None:
        """Replace the key pair, and publish the public key; the former key still opens uploads that were sealed to it.

        Raises:
            ConflictError: all workers have a copy of the key, or imported ground truth is sealed to it, too.
            LostKeyError: as for `private_key`.
        """
        if not self._may_rotate:
            raise ConflictError(
                "The key pair cannot be replaced with VOCBOARD_STORE or VOCBOARD_TRUTH_KEY_FILE: imported ground truth "
                "in an object store is sealed to it, and other workers have a copy."
            )
        directory, former = self._made(), self.private_key()
        if not (directory / NOISE_KEY_FILE).exists():
            self._write(directory / NOISE_KEY_FILE, self.noise_key())
        self._write(directory / f"{_FORMER}{now():%Y%m%dT%H%M%S.%fZ}", bytes(former))
        self._write(directory / PRIVATE_KEY_FILE, bytes(PrivateKey.generate()))
        self.private_key()

    def remove_former_keys(self) -> None:
        """Remove the keys that no upload can be sealed to any more. Called when no version waits for its import."""
        before = (now() - UNANNOUNCED_FOR).timestamp()
        for path in self._made().glob(f"{_FORMER}*"):
            if path.stat().st_mtime < before:
                path.unlink(missing_ok=True)

    def _write(self, path: Path, content: bytes) -> None:
        self._new_file(path.parent, content).replace(path)

    def _make_key(self, path: Path) -> None:
        name = self._new_file(path.parent, bytes(PrivateKey.generate()))
        try:
            os.link(name, path)
        except FileExistsError:
            pass  # another worker created the key at the same time; use that one
        finally:
            name.unlink()

    def _new_file(self, directory: Path, content: bytes) -> Path:
        descriptor, name = tempfile.mkstemp(dir=directory)  # only readable by this user
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        return Path(name)

    def _made(self) -> Path:
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        return self._directory
