"""A file while it arrives: in its final file system under a temporary name, gone unless it is moved away.

Its process holds a lock on it (flock), which the operating system releases however the process ends: so anyone can tell
a file that is still arriving from one that a killed process has left.
"""

import contextlib
import fcntl
import os
import tempfile
import time
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Self

ABANDONED_AFTER = timedelta(minutes=5)  # between making a file and locking it lie microseconds


class IncomingFile:
    """A temporary file that only this user can read; leaving the `with` block removes what was not moved away.

    Attributes:
        path: where it is.
    """

    def __init__(self, directory: Path, *, prefix: str = "") -> None:
        descriptor, name = tempfile.mkstemp(dir=directory, prefix=prefix)
        self.path = Path(name)
        self._file = os.fdopen(descriptor, "wb")
        self._lock = os.dup(descriptor)  # the lock outlives the file's closing: the file is still needed then
        fcntl.flock(self._lock, fcntl.LOCK_EX)

    def finish(self) -> None:
        """Bring the whole file to the disk; afterwards `path` can be read. Does nothing the second time."""
        if not self._file.closed:
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()

    def remove(self) -> None:
        """Close the file and remove it unless it was moved away. Does nothing the second time.

        Raises:
            OSError: what is buffered cannot be written; the file is gone all the same.
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
        except OSError:  # a full disk shows once more when what is buffered is written; it has been reported
            if error is None:
                raise


def remove_abandoned(paths: Iterable[Path], *, older_than: timedelta = ABANDONED_AFTER) -> int:
    """Remove those files that no process holds any more; how many they were.

    Args:
        paths: files that were made as `IncomingFile`, perhaps under another name by now.
        older_than: since their last change.
    """
    changed_before = time.time() - older_than.total_seconds()
    removed = 0
    for path in paths:
        # Gone meanwhile, or held by the process that receives it.
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
