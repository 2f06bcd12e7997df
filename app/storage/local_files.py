"""Local files of uploads: temporary ones of those in progress, and resumable ones that are not finished.

A process holds a lock on a file that it writes (flock), which the operating system releases when the process ends. So
files in progress can be distinguished from those of killed processes. What is written to a resumable upload only counts
once it is on disk, so that no offset is ever larger than what a crash leaves of the file; what lies beyond the offset
is cut off before more is written.
"""

import contextlib
import errno
import fcntl
import os
import shutil
import tempfile
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Self

READABLE_BY_GROUP = 0o640  # of what is kept: workers may be other users of the same group
_ERRORS = frozenset(
    {
        errno.EACCES,
        errno.EHOSTDOWN,
        errno.EHOSTUNREACH,
        errno.EIO,
        errno.ENODEV,
        errno.ENOTCONN,
        errno.ENOTDIR,
        errno.ENXIO,
        errno.EPERM,
        errno.EROFS,
        errno.ESTALE,
        errno.ETIMEDOUT,
    }
)


class StoreUnavailableError(OSError):
    """The store cannot be used at the moment, whatever is asked of it. The web application answers 503."""


@contextmanager
def reporting_unavailable(directory: Path | None = None) -> Iterator[None]:
    """Raise `StoreUnavailableError` if the block fails because the store cannot be used.

    Args:
        directory: of the store. If it does not exist, a file missing in it does not count as a missing archive.
    """
    try:
        yield
    except OSError as error:
        is_gone = error.errno == errno.ENOENT and directory is not None and not directory.exists()
        if error.errno in _ERRORS or is_gone:
            raise StoreUnavailableError(error.errno, error.strerror, error.filename) from error
        raise


ABANDONED_AFTER = timedelta(minutes=5)  # far longer than the time between creating and locking a file


class IncomingFile:
    """A temporary file that only this user can read. Leaving the `with` block removes it unless it was moved.

    Attributes:
        path: path of the file.
        is_durable: whether `finish` waits until the disk has the file.
    """

    def __init__(
        self, directory: Path, *, prefix: str = "", content: Path | None = None, is_durable: bool = True
    ) -> None:
        """Create the file.

        Args:
            content: a complete file in the same file system, which becomes this one's content without being copied. It
                stays where it is; nobody may write to it any more.

        Raises:
            FileNotFoundError: there is no such content.
            BlockingIOError: somebody still writes to it.
        """
        self.is_durable = is_durable
        if content is None:
            descriptor, name = tempfile.mkstemp(dir=directory, prefix=prefix)
            self.path = Path(name)
        else:
            self.path = directory / f"{prefix}{uuid.uuid4().hex}"
            self.path.hardlink_to(content)
            descriptor = os.open(self.path, os.O_RDWR)
        self._file = os.fdopen(descriptor, "r+b" if content else "wb")
        self._lock = os.dup(descriptor)  # keeps the lock after the file is closed, because the file is still needed
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX if content is None else fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BaseException:
            self.remove()
            raise

    def flush(self) -> None:
        """Let `path` be read, although a power failure can still lose what was written. Idempotent."""
        if not self._file.closed:
            self._file.flush()

    def finish(self) -> None:
        """Flush the file to disk; afterwards `path` can be read. Idempotent."""
        if not self._file.closed:
            self._file.flush()
            if self.is_durable:
                os.fsync(self._file.fileno())
            self._file.close()

    def remove(self) -> None:
        """Close the file, and remove it unless it was moved. Idempotent.

        Raises:
            OSError: buffered data could not be written; the file is still removed.
        """
        if self._lock < 0:
            return
        lock, self._lock = self._lock, -1
        try:
            self._file.close()
        finally:
            self.path.unlink(missing_ok=True)
            os.close(lock)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            self.remove()
        except OSError:  # a full disk may raise again when buffers are flushed; it was already reported
            if error is None:
                raise


def remove_abandoned(paths: Iterable[Path], *, older_than: timedelta = ABANDONED_AFTER) -> int:
    """Remove files that no process has locked; return their number.

    Args:
        paths: files created as `IncomingFile`, possibly renamed.
        older_than: minimum time since the last change.
    """
    changed_before = time.time() - older_than.total_seconds()
    removed = 0
    for path in paths:
        # Removed in the meantime, locked by the receiving process, or just made by another user.
        with contextlib.suppress(FileNotFoundError, BlockingIOError, PermissionError):
            removed += _remove_unlocked(path, changed_before)
    return removed


def _remove_unlocked(path: Path, changed_before: float) -> bool:
    with path.open("rb") as file:
        if os.fstat(file.fileno()).st_mtime > changed_before:
            return False
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        path.unlink()
    return True


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
        parents: whether to make the directory that it is in, too, if it is missing.
    """

    def __init__(self, directory: Path, *, parents: bool = False) -> None:
        self._directory = directory
        self._parents = parents

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
            self._directory.mkdir(parents=self._parents, exist_ok=True)
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
            self._directory.mkdir(parents=self._parents, exist_ok=True)
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
