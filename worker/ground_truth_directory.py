"""The directory with imported ground truth and the private key, which only workers can read."""

import hmac
import os
import tempfile
from collections.abc import Collection
from pathlib import Path
from uuid import UUID

from nacl.public import PrivateKey

from vocboard.app.settings import Settings
from vocboard.app.storage.ground_truth_inbox import GroundTruthInbox

PRIVATE_KEY_FILE = "worker.private-key"
_SCRATCH = "scratch"


class LostKeyError(Exception):
    """The private key is missing, and a new one would not open what was encrypted for it."""


class GroundTruthDirectory:
    """The directory `Settings.truth`, created on first use without access for other users."""

    def __init__(self, settings: Settings) -> None:
        self._directory = settings.truth
        self._inbox = GroundTruthInbox(settings.ground_truth_inbox)

    def scratch(self, version_id: UUID, lease_id: UUID) -> Path:
        """Return the path for decrypting an upload."""
        directory = self._made() / _SCRATCH
        directory.mkdir(mode=0o700, exist_ok=True)
        return directory / f"{version_id}.{lease_id}"

    def remove_scratch(self, *, but: Collection[UUID]) -> None:
        """Remove decrypted files of killed workers, except for versions whose import may be in progress."""
        for path in (self._made() / _SCRATCH).glob("*.*"):
            if path.stem not in {str(version_id) for version_id in but}:
                path.unlink(missing_ok=True)

    def private_key(self) -> PrivateKey:
        """Return the private key for uploads. The first call creates it and publishes the public key in the inbox.

        Raises:
            LostKeyError: it is missing, but was there before.
        """
        path = self._made() / PRIVATE_KEY_FILE
        was_published = self._inbox.has_key()  # before the next line: another worker may be making both now
        if not path.exists() and was_published:
            raise LostKeyError(
                f"{path} is missing, the private key that opens uploads of ground truth. Restore it from the backup of "
                f"{self._directory} (the volume truth). If there is none, delete {self._inbox.key_path} and move the "
                "other files of the directory away: a new key is made, and all ground truth has to be uploaded again."
            )
        if not path.exists():
            self._make_key(path)
        key = PrivateKey(path.read_bytes())
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
