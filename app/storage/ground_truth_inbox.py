"""The directory through which ground truth goes in: the web process seals files into it, the worker takes them out.

The worker publishes its public key there when it first starts. Nothing that the web process holds opens what it has
written.
"""

import os
import tempfile
import uuid
from collections.abc import Collection
from datetime import timedelta
from pathlib import Path

from nacl.public import PublicKey

from vocboard.app.errors import ConflictError, TooLargeError
from vocboard.app.storage.incoming_file import IncomingFile, remove_abandoned
from vocboard.app.storage.sealed_files import SealingStream

PUBLIC_KEY_FILE = "worker.public-key"
UNANNOUNCED_FOR = timedelta(days=1)  # far longer than an upload waits for its row
_INCOMING_PREFIX = ".incoming-"
_SUFFIX = ".sealed"


def purpose_of(challenge_id: uuid.UUID, version_id: uuid.UUID) -> bytes:
    """What a sealed file is bound to: a web server that someone has taken over cannot use it for another challenge."""
    return f"ground truth {challenge_id} {version_id}".encode()


class IncomingTruth(IncomingFile):
    """An upload of ground truth while it arrives: sealed as it comes, plain nowhere.

    Attributes:
        version_id: the id to announce it under once it is kept.
        size: bytes of plain content so far.
    """

    def __init__(
        self, inbox: "GroundTruthInbox", public_key: PublicKey, *, challenge_id: uuid.UUID, limit: int
    ) -> None:
        self.version_id = uuid.uuid4()
        self.size = 0
        self._target = inbox.path(self.version_id)
        self._limit = limit
        super().__init__(self._target.parent, prefix=_INCOMING_PREFIX)
        self._stream = SealingStream(self._file, public_key, purpose=purpose_of(challenge_id, self.version_id))

    def write(self, chunk: bytes) -> None:
        """Append to the upload.

        Raises:
            TooLargeError: it is larger than allowed.
            OSError: the disk is full.
        """
        self.size += len(chunk)
        if self.size > self._limit:
            raise TooLargeError(f"Ground truth may have at most {self._limit:,} bytes.")
        self._stream.write(chunk)

    def keep(self) -> uuid.UUID:
        """Put the complete upload into the inbox for good, and return its version id, to be announced next."""
        self._stream.finish()
        self.finish()
        self.path.replace(self._target)
        return self.version_id


class GroundTruthInbox:
    """The directory `Settings.ground_truth_inbox`."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def receive(self, *, challenge_id: uuid.UUID, limit: int) -> IncomingTruth:
        """Begin an upload for a challenge, of at most `limit` bytes.

        Use it in a `with` block, which removes what is not kept.

        Raises:
            ConflictError: no worker has published its key yet.
        """
        return IncomingTruth(self, self.public_key(), challenge_id=challenge_id, limit=limit)

    def public_key(self) -> PublicKey:
        """Return the worker's public key.

        Raises:
            ConflictError: no worker has published its key yet.
        """
        try:
            return PublicKey((self._directory / PUBLIC_KEY_FILE).read_bytes())
        except FileNotFoundError:
            raise ConflictError("No worker has started yet. Start one, then upload the ground truth again.") from None

    def publish_key(self, key: PublicKey) -> None:
        """Write the worker's public key, whole or not at all, unless it is there."""
        self._directory.mkdir(parents=True, exist_ok=True)
        target = self._directory / PUBLIC_KEY_FILE
        if target.exists() and target.read_bytes() == bytes(key):
            return
        descriptor, name = tempfile.mkstemp(dir=self._directory, prefix=_INCOMING_PREFIX)
        with os.fdopen(descriptor, "wb") as file:
            file.write(bytes(key))
        Path(name).chmod(0o644)
        Path(name).replace(target)

    def path(self, version_id: uuid.UUID) -> Path:
        """Where the sealed file of a version lies."""
        return self._directory / f"{version_id}{_SUFFIX}"

    def discard(self, version_id: uuid.UUID) -> None:
        """Remove the sealed file of a version: it was imported, has failed, or could not be announced."""
        self.path(version_id).unlink(missing_ok=True)

    def remove_abandoned(self, *, waiting: Collection[uuid.UUID]) -> None:
        """Remove what was left behind by uploads whose process was killed, and by finished imports.

        Args:
            waiting: versions whose sealed upload is still needed.
        """
        needed = {self.path(version_id) for version_id in waiting}
        remove_abandoned(self._directory.glob(f"{_INCOMING_PREFIX}*"))
        unannounced = (path for path in self._directory.glob(f"*{_SUFFIX}") if path not in needed)
        remove_abandoned(unannounced, older_than=UNANNOUNCED_FOR)
