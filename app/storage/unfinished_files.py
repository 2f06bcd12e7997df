"""Files of resumable uploads that are not finished: one for each upload, named by its id, written by appending.

All web processes share the directory. What is written is only counted once it is on disk, so that no offset is ever
larger than what a crash leaves of the file; what lies beyond the offset is cut off before more is written.
"""

import contextlib
import fcntl
import os
import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path

from vocboard.app.storage.availability import reporting_unavailable


class LostFileError(Exception):
    """The file has less than was counted: somebody removed it, or an older backup was restored."""


class InUseError(Exception):
    """Another request writes to the file, or validates it."""


class UnfinishedFile:
    """An unfinished file, locked for writing. The system releases the lock when the process ends.

    Attributes:
        size: bytes that count or were written, `synced` of which survive a power failure.
    """

    def __init__(self, path: Path, *, may_create: bool) -> None:
        """Open and lock a file.

        Raises:
            LostFileError: there is none.
            InUseError: it is locked.
        """
        self.size = self.synced = 0
        try:
            self._descriptor = os.open(path, os.O_RDWR | (os.O_CREAT if may_create else 0), 0o600)
        except FileNotFoundError as error:
            raise LostFileError from error
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            self.close()
            raise InUseError from error

    def begin_at(self, offset: int) -> None:
        """Prepare for appending at an offset, which the caller has looked up since the file was locked.

        Raises:
            LostFileError: the file is shorter than that.
        """
        if os.fstat(self._descriptor).st_size < offset:
            raise LostFileError
        os.ftruncate(self._descriptor, offset)
        os.lseek(self._descriptor, offset, os.SEEK_SET)
        self.size = self.synced = offset

    def write(self, chunk: bytes) -> None:
        """Append data.

        Raises:
            OSError: the disk is full; `size` counts what was written.
        """
        rest = memoryview(chunk)
        while rest:
            written = os.write(self._descriptor, rest)
            self.size += written
            rest = rest[written:]

    def sync(self) -> int:
        """Bring what was written to disk, and return the size."""
        if self.synced < self.size:
            size = self.size
            os.fsync(self._descriptor)
            self.synced = size
        return self.synced

    def close(self) -> None:
        """Close the file, and release the lock. Idempotent."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


class UnfinishedFiles:
    """The directory of unfinished files.

    Args of the constructor:
        directory: in the file system of the store's `incoming`.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def path(self, upload_id: uuid.UUID) -> Path:
        """Return the path of an upload's file, which may not exist."""
        return self._directory / str(upload_id)

    def open(self, upload_id: uuid.UUID, *, may_create: bool) -> UnfinishedFile:
        """Open and lock the file of an upload.

        Raises:
            LostFileError: there is none.
            InUseError: another request writes to it, or validates it.
        """
        with reporting_unavailable(self._directory.parent):
            self._directory.mkdir(exist_ok=True)
            return UnfinishedFile(self.path(upload_id), may_create=may_create)

    def has(self, upload_id: uuid.UUID, size: int) -> bool:
        """Whether at least so many bytes of an upload are there."""
        try:
            with reporting_unavailable():
                return self.path(upload_id).stat().st_size >= size
        except FileNotFoundError:
            return size == 0

    def free_bytes(self) -> int:
        """Return how many bytes the file system still takes."""
        with reporting_unavailable(self._directory.parent):
            self._directory.mkdir(exist_ok=True)
            return shutil.disk_usage(self._directory).free

    def ids(self) -> Iterator[uuid.UUID]:
        """Yield the ids of all uploads that have a file."""
        if self._directory.exists():
            for path in self._directory.iterdir():
                with contextlib.suppress(ValueError):  # somebody else's
                    yield uuid.UUID(path.name)

    def remove(self, upload_id: uuid.UUID) -> None:
        """Remove the file of an upload whose row is gone; a request that still writes to it fails."""
        with reporting_unavailable():
            self.path(upload_id).unlink(missing_ok=True)
