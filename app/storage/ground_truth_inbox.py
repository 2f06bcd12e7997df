"""The inbox of ground truth: the web process writes encrypted files, and workers read and delete them.

A worker publishes its public key in the inbox when it first starts. The web process cannot decrypt what it has written.
"""

import contextlib
import os
import tempfile
import uuid
from collections.abc import Collection, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from nacl.public import PublicKey

from vocboard.app.errors import ConflictError, TooLargeError
from vocboard.app.storage.directory_objects import DirectoryObjects
from vocboard.app.storage.local_files import READABLE_BY_GROUP, IncomingFile, remove_abandoned
from vocboard.app.storage.moving_objects import MovingObjects
from vocboard.app.storage.objects import Objects
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
        self._limit = limit
        super().__init__(inbox.made_directory(), prefix=_INCOMING_PREFIX)
        self.path.chmod(READABLE_BY_GROUP)  # workers remove what killed processes left, which its lock tells them
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
        self._inbox.put(self.path, self.version_id)
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
    """Where encrypted uploads wait for a worker. Each waits under its version."""

    def __init__(self, directory: Path, objects: Objects | None = None) -> None:
        """Use an inbox.

        Args:
            directory: local space of uploads in progress.
            objects: where complete ones are kept; by default in the directory.
        """
        self._directory = directory
        self._objects = objects or DirectoryObjects(directory)

    def set_up(self) -> None:
        """Create the directory. Called when a process starts. Idempotent."""
        self._directory.mkdir(parents=True, exist_ok=True)

    def made_directory(self) -> Path:
        """Return the local directory, which is made unless it is the inbox itself, which could be a missing mount."""
        if not self._objects.needs_directory:
            self.set_up()
        return self._directory

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
        key = self._published_key()
        if key is None:
            raise ConflictError("No worker has started yet. Start one, then upload the ground truth again.")
        return PublicKey(key)

    def _published_key(self) -> bytes | None:
        if self._objects.needs_directory and not self._directory.exists():
            return None  # no process has made it yet
        try:
            with self._objects.local(PUBLIC_KEY_FILE) as path:
                return path.read_bytes()
        except FileNotFoundError:
            return None

    def has_key(self) -> bool:
        """Whether a worker has published a key."""
        return self._objects.has(PUBLIC_KEY_FILE)

    def publish_key(self, key: PublicKey) -> None:
        """Write the workers' public key atomically, unless it exists."""
        if self._published_key() == bytes(key):
            return
        descriptor, name = tempfile.mkstemp(dir=self._directory, prefix=_INCOMING_PREFIX)
        with os.fdopen(descriptor, "wb") as file:
            file.write(bytes(key))
        Path(name).chmod(0o644)
        self._objects.put(Path(name), PUBLIC_KEY_FILE)
        Path(name).unlink(missing_ok=True)

    def put(self, path: Path, version_id: uuid.UUID) -> None:
        """Keep a complete encrypted file."""
        self._objects.put(path, _name(version_id))

    def opened(self, version_id: uuid.UUID) -> contextlib.AbstractContextManager[Path]:
        """Yield a local path of a version's encrypted file.

        Raises:
            FileNotFoundError: there is none.
        """
        return self._objects.local(_name(version_id))

    def discard(self, version_id: uuid.UUID) -> None:
        """Remove the encrypted file of a version that was imported, has failed, or could not be registered."""
        self._objects.remove(_name(version_id))

    def bring(self) -> int:
        """Bring everything from the former place, if there is one, to the present one; return how much was moved."""
        objects = self._objects
        if not isinstance(objects, MovingObjects):
            return 0
        names = [name for name in objects.names() if name == PUBLIC_KEY_FILE or name.endswith(_SUFFIX)]
        return sum(objects.bring(name, lambda _: None) for name in names)

    def remove_abandoned(self, *, waiting: Collection[uuid.UUID]) -> None:
        """Remove files of killed processes and of finished imports.

        Args:
            waiting: versions whose encrypted upload is still needed.
        """
        remove_abandoned(self._directory.glob(f"{_INCOMING_PREFIX}*"))
        self._objects.remove_abandoned()
        needed = set(map(_name, waiting))
        before = datetime.now(UTC) - UNANNOUNCED_FOR
        for name in list(self._objects.names()):
            if name.endswith(_SUFFIX) and name not in needed:
                with contextlib.suppress(FileNotFoundError):  # removed by another worker
                    if self._objects.changed_at(name) < before:
                        self._objects.remove(name)


def _name(version_id: uuid.UUID) -> str:
    return f"{version_id}{_SUFFIX}"
