"""The inbox of ground truth: the web process writes encrypted files, and workers read and delete them.

A worker publishes its public key in the inbox when it first starts. The web process cannot decrypt what it has written.
"""

import contextlib
import os
import tempfile
import uuid
from collections.abc import Collection, Iterator
from datetime import timedelta
from pathlib import Path

from nacl.public import PublicKey

from vocboard.app.errors import ConflictError, TooLargeError
from vocboard.app.storage.local_files import IncomingFile, remove_abandoned
from vocboard.app.storage.sealed_files import SealingStream
from vocboard.evaluator.byte_sizes import size_text

PUBLIC_KEY_FILE = "worker.public-key"
UNANNOUNCED_FOR = timedelta(days=1)  # far longer than the time between writing a file and committing its row
_INCOMING_PREFIX = ".incoming-"
_SUFFIX = ".sealed"


def purpose_of(challenge_id: uuid.UUID, version_id: uuid.UUID) -> bytes:
    """Return the purpose that a file is bound to, so that a compromised web process cannot reuse it elsewhere."""
    return f"ground truth {challenge_id} {version_id}".encode()


class IncomingTruth(IncomingFile):
    """An upload of ground truth in progress. It is encrypted while it is received and never stored in plain text.

    Attributes:
        version_id: the id of the new version.
        size: plain bytes received so far.
    """

    def __init__(
        self, inbox: "GroundTruthInbox", public_key: PublicKey, *, challenge_id: uuid.UUID, limit: int
    ) -> None:
        self.version_id = uuid.uuid4()
        self.size = 0
        self._inbox = inbox
        self._target = inbox.path(self.version_id)
        self._limit = limit
        super().__init__(self._target.parent, prefix=_INCOMING_PREFIX)
        self._stream = SealingStream(self._file, public_key, purpose=purpose_of(challenge_id, self.version_id))

    def write(self, chunk: bytes | memoryview) -> None:
        """Append data to the upload.

        Raises:
            TooLargeError: it is larger than allowed.
            OSError: the disk is full.
        """
        self.size += len(chunk)
        if self.size > self._limit:
            raise TooLargeError(f"Ground truth may have at most {size_text(self._limit)}.")
        self._stream.write(chunk)

    def keep(self) -> uuid.UUID:
        """Move the complete upload to the inbox, and return its version id, to be registered next."""
        self._stream.finish()
        self.finish()
        self.path.replace(self._target)
        return self.version_id

    @contextlib.contextmanager
    def kept(self) -> Iterator[uuid.UUID]:
        """Keep the upload while a block registers its version id; removed again if the block fails."""
        version_id = self.keep()
        try:
            yield version_id
        except BaseException:
            self._inbox.discard(version_id)
            raise


class GroundTruthInbox:
    """The directory `Settings.ground_truth_inbox`."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def receive(self, *, challenge_id: uuid.UUID, limit: int) -> IncomingTruth:
        """Begin an upload of at most `limit` bytes for a challenge.

        Use it in a `with` block, which removes it unless it is stored.

        Raises:
            ConflictError: no worker has published a key yet.
        """
        return IncomingTruth(self, self.public_key(), challenge_id=challenge_id, limit=limit)

    def public_key(self) -> PublicKey:
        """Return the workers' public key.

        Raises:
            ConflictError: no worker has published a key yet.
        """
        try:
            return PublicKey(self.key_path.read_bytes())
        except FileNotFoundError:
            raise ConflictError("No worker has started yet. Start one, then upload the ground truth again.") from None

    @property
    def key_path(self) -> Path:
        """The file of the workers' public key."""
        return self._directory / PUBLIC_KEY_FILE

    def has_key(self) -> bool:
        """Whether a worker has published a key."""
        return self.key_path.exists()

    def publish_key(self, key: PublicKey) -> None:
        """Write the workers' public key atomically, unless it exists."""
        self._directory.mkdir(parents=True, exist_ok=True)
        target = self.key_path
        if target.exists() and target.read_bytes() == bytes(key):
            return
        descriptor, name = tempfile.mkstemp(dir=self._directory, prefix=_INCOMING_PREFIX)
        with os.fdopen(descriptor, "wb") as file:
            file.write(bytes(key))
        Path(name).chmod(0o644)
        Path(name).replace(target)

    def path(self, version_id: uuid.UUID) -> Path:
        """Return the path of a version's encrypted file."""
        return self._directory / f"{version_id}{_SUFFIX}"

    def discard(self, version_id: uuid.UUID) -> None:
        """Remove the encrypted file of a version that was imported, has failed, or could not be registered."""
        self.path(version_id).unlink(missing_ok=True)

    def remove_abandoned(self, *, waiting: Collection[uuid.UUID]) -> None:
        """Remove files of killed processes and of finished imports.

        Args:
            waiting: versions whose encrypted upload is still needed.
        """
        needed = {self.path(version_id) for version_id in waiting}
        remove_abandoned(self._directory.glob(f"{_INCOMING_PREFIX}*"))
        unannounced = (path for path in self._directory.glob(f"*{_SUFFIX}") if path not in needed)
        remove_abandoned(unannounced, older_than=UNANNOUNCED_FOR)
