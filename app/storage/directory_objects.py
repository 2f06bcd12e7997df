"""Files in a directory that web processes and workers share.

They share it on one machine, or over a network file system with the same semantics for renames and locks. Files are
written elsewhere in the same file system, and renamed when they are put.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import NoReturn

from vocboard.app.storage.local_files import READABLE_BY_GROUP, reporting_unavailable

_OF_ROOT = "lost+found"  # in a directory that is a file system of its own: only root can read it


class DirectoryObjects:
    """`Objects` in a directory; see there for its methods."""

    needs_directory = True

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def set_up(self) -> None:
        """Create the directory."""
        self._directory.mkdir(parents=True, exist_ok=True)

    def is_ready(self) -> bool:
        """Whether the directory exists and is writable."""
        return os.access(self._directory, os.W_OK | os.X_OK)

    @reporting_unavailable()
    def put(self, path: Path, name: str, *, is_durable: bool = True) -> None:
        """Rename a file, which is in the same file system."""
        target = self.path(name)
        if is_durable:
            _bring_to_disk(path)  # which costs nothing if its writer has done it
        path.chmod(path.stat().st_mode | READABLE_BY_GROUP)
        if not target.parent.exists():
            target.parent.mkdir(exist_ok=True)
            _bring_to_disk(self._directory)
        path.replace(target)
        if is_durable:
            _bring_to_disk(target.parent)

    def path(self, name: str) -> Path:
        """Return the path of a file, whether or not it exists."""
        return self._directory / name

    @contextmanager
    def local(self, name: str) -> Iterator[Path]:
        """Yield the path."""
        yield self.cached(name)

    def cached(self, name: str, check: Callable[[Path], object] | None = None) -> Path:
        """Return the path."""
        with reporting_unavailable(self._directory):
            self.path(name).stat()
        return self.path(name)

    def link(self, name: str, file_name: str) -> None:
        """Return no address: web processes send the file."""

    @reporting_unavailable()
    def move(self, name: str, new_name: str) -> bool:
        """Rename a file, with the current time as its modification time."""
        self.path(new_name).parent.mkdir(exist_ok=True)
        try:
            os.utime(self.path(name))
            self.path(name).replace(self.path(new_name))
        except FileNotFoundError:
            return False
        return True

    @reporting_unavailable()
    def remove(self, name: str) -> None:
        """Remove a file."""
        self.path(name).unlink(missing_ok=True)

    def has(self, name: str) -> bool:
        """Whether there is a file."""
        try:
            self.cached(name)
        except FileNotFoundError:
            return False
        return True

    def names(self, folder: str = "") -> Iterator[str]:
        """Yield the names of files."""
        with reporting_unavailable(self._directory):
            self._directory.stat()
            start = self.path(folder)
            for parent, folders, files in os.walk(start, onerror=_fail, followlinks=True) if start.exists() else ():
                folders[:] = [name for name in folders if name != _OF_ROOT]
                inside = os.path.relpath(parent, self._directory)
                yield from files if inside == os.curdir else (f"{inside}/{file}" for file in files)

    def changed_at(self, name: str) -> datetime:
        """Return the modification time."""
        with reporting_unavailable(self._directory):
            return datetime.fromtimestamp(self.path(name).stat().st_mtime, UTC)

    def remove_abandoned(self) -> int:
        """Remove nothing: files are complete before they are put."""
        return 0


def _fail(error: OSError) -> NoReturn:
    raise error


def _bring_to_disk(path: Path) -> None:
    """Flush a file or directory to disk, so that its content or entries survive a power failure."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
