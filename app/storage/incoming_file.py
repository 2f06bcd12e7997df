"""A temporary file for an upload in progress, in its final file system. It is removed unless it is moved.

The process holds a lock on the file (flock), which the operating system releases when the process ends. So files in
progress can be distinguished from those of killed processes.
"""

import contextlib
import fcntl
import os
import tempfile
import time
import uuid
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Self

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
        # Removed in the meantime, or locked by the receiving process.
        with contextlib.suppress(FileNotFoundError, BlockingIOError):
            removed += _remove_unlocked(path, changed_before)
    return removed


def _remove_unlocked(path: Path, changed_before: float) -> bool:
    with path.open("rb") as file:
        if os.fstat(file.fileno()).st_mtime > changed_before:
            return False
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        path.unlink()
    return True
