"""The directory with imported ground truth and the private key, which only workers can read."""

import hmac
import os
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import UUID

from nacl.public import PrivateKey

from vocboard.app.settings import Settings
from vocboard.app.storage.ground_truth_inbox import PUBLIC_KEY_FILE
from vocboard.app.storage.local_files import IncomingFile, remove_abandoned
from vocboard.app.storage.stores import ground_truth_inbox

PRIVATE_KEY_FILE = "worker.private-key"
_SCRATCH = "scratch"
_TEMPORARY_PREFIX = "temporary-"


class LostKeyError(Exception):
    """The private key is missing, and a new one would not open what was encrypted for it."""


class GroundTruthDirectory:
    """The directory `Settings.truth`, created on first use without access for other users."""

    def __init__(self, settings: Settings) -> None:
        self._directory = settings.truth
        self._key_path = settings.truth_key_file or settings.truth / PRIVATE_KEY_FILE
        self._inbox = ground_truth_inbox(settings)
        self._shares_no_directory = bool(settings.store)

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

    def remove_scratch(self, *, but: Collection[UUID]) -> None:
        """Remove decrypted files of killed workers, except for versions whose import may be in progress."""
        remove_abandoned((self._made() / _SCRATCH).glob(f"{_TEMPORARY_PREFIX}*"))
        for path in (self._made() / _SCRATCH).glob("*.*"):
            if path.stem not in {str(version_id) for version_id in but}:
                path.unlink(missing_ok=True)

    def private_key(self) -> PrivateKey:
        """Return the private key for uploads. The first call creates it and publishes the public key in the inbox.

        Raises:
            LostKeyError: it is missing, but was there before.
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
        key = PrivateKey(path.read_bytes())
        if self._shares_no_directory and was_published and self._inbox.public_key() != key.public_key:
            raise LostKeyError(f"{path} is not the private key of the other workers: give this worker a copy of theirs")
        self._inbox.publish_key(key.public_key)
        return key

    def noise_key(self) -> bytes:
        """Return the key of the noise in shares of diagnoses, which follows from the private key."""
        return hmac.digest(bytes(self.private_key()), b"noise of diagnoses", "sha256")

    def _make_key(self, path: Path) -> None:
        descriptor, name = tempfile.mkstemp(dir=path.parent)  # only readable by this user
        with os.fdopen(descriptor, "wb") as file:
            file.write(bytes(PrivateKey.generate()))
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(name, path)
        except FileExistsError:
            pass  # another worker created the key at the same time; use that one
        finally:
            Path(name).unlink()

    def _made(self) -> Path:
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        return self._directory
