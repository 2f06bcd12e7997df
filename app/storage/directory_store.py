"""An archive store in a directory, with paths `ab/cdef...` for the SHA-256 `abcdef...`.

The web process and workers share it on one machine, or over a network file system with the same semantics for renames
and locks. An upload is written to a temporary file in the same file system, and renamed when it is stored.
"""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from vocboard.app.storage.archives import (
    SET_ASIDE_FOR,
    IncomingArchive,
    check_content,
    check_name,
    columns_limit,
    is_name,
)
from vocboard.app.storage.local_files import UnfinishedFiles, remove_abandoned, reporting_unavailable

_FOLDER = re.compile(r"[0-9a-f]{2}")
_INCOMING, _SET_ASIDE, _UNFINISHED = "incoming", "set-aside", "unfinished"


class DirectoryStore:
    """An `ArchiveStore` in a directory; see there for its methods."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    @property
    def incoming(self) -> Path:
        """A folder in the directory, so that an upload can be stored by a rename."""
        return self._directory / _INCOMING

    def set_up(self) -> None:
        """Create the directory."""
        self._directory.mkdir(parents=True, exist_ok=True)

    def can_write(self) -> bool:
        """Whether the directory exists and is writable."""
        return os.access(self._directory, os.W_OK | os.X_OK)

    def free_bytes(self) -> int:
        """Return the space that is left on the disk; 0 if it has no room for another file, or is not there."""
        try:
            disk = os.statvfs(self._directory)
        except OSError:
            return 0
        return disk.f_bavail * disk.f_frsize if disk.f_favail or not disk.f_files else 0

    def receive(self, *, limit: int) -> IncomingArchive:
        """Begin an upload."""
        with reporting_unavailable(self._directory):
            self.incoming.mkdir(exist_ok=True)  # without parents: a directory that is not mounted is not created
            return IncomingArchive(self, limit=limit)

    def receive_columns(self, archive: IncomingArchive) -> IncomingArchive:
        """Begin a file that is not flushed to disk: workers compare its hash, and read the archive if it is wrong."""
        with reporting_unavailable():
            return IncomingArchive(self, limit=columns_limit(archive.size), is_durable=False)

    @property
    def unfinished(self) -> UnfinishedFiles:
        """In a folder of the directory, so that a finished upload can be stored without being copied."""
        return UnfinishedFiles(self._directory / _UNFINISHED)

    def adopt(self, content: Path) -> IncomingArchive:
        """Link a finished file into the folder of incoming ones."""
        with reporting_unavailable(self._directory):
            self.incoming.mkdir(exist_ok=True)
            return IncomingArchive(self, limit=content.stat().st_size, content=content)

    @reporting_unavailable()
    def keep(self, archive: IncomingArchive) -> str:
        """Store an upload by a rename."""
        target = self.path(archive.sha256)
        if not target.parent.exists():
            target.parent.mkdir(exist_ok=True)
            _bring_to_disk(self._directory)
        archive.path.replace(target)
        if archive.is_durable:
            _bring_to_disk(target.parent)
        return archive.sha256

    def path(self, sha256: str) -> Path:
        """Return the path of the archive with this hash, whether or not it exists."""
        check_name(sha256)
        return self._directory / sha256[:2] / sha256[2:]

    @contextmanager
    def open(self, sha256: str) -> Iterator[BinaryIO]:
        """Open an archive."""
        with reporting_unavailable(self._directory), self.path(sha256).open("rb") as file:
            check_content(file, sha256)
            file.seek(0)
            yield file

    def file_to_serve(self, sha256: str) -> Path:
        """Return the path of an archive."""
        path = self.path(sha256)
        with reporting_unavailable(self._directory):
            path.stat()
        return path

    @contextmanager
    def local_file(self, sha256: str) -> Iterator[Path]:
        """Yield the path of an archive, in one of 256 folders."""
        path = self.path(sha256)
        with reporting_unavailable(self._directory), path.open("rb") as file:
            check_content(file, sha256)
        yield path

    def stored(self) -> Iterator[str]:
        """Yield the names of all archives."""
        with reporting_unavailable(self._directory):
            for folder in self._directory.iterdir():  # unlike `glob`, fails if there is no directory
                if _FOLDER.fullmatch(folder.name):
                    yield from (name for path in folder.iterdir() if is_name(name := folder.name + path.name))

    @reporting_unavailable()
    def remove(self, sha256: str) -> None:
        """Remove an archive."""
        self.path(sha256).unlink(missing_ok=True)

    @reporting_unavailable()
    def set_aside(self, sha256: str) -> None:
        """Move an archive to a folder that `stored` does not read, with the current time as its modification time."""
        self._aside(sha256).parent.mkdir(exist_ok=True)
        with suppress(FileNotFoundError):
            os.utime(self.path(sha256))
            self.path(sha256).replace(self._aside(sha256))

    @reporting_unavailable()
    def restore(self, sha256: str) -> bool:
        """Move an archive back."""
        if self.path(sha256).exists() or not self._aside(sha256).exists():
            return False
        self._aside(sha256).replace(self.path(sha256))
        return True

    @reporting_unavailable()
    def aside(self) -> Sequence[str]:
        """Return the names of all archives that are set aside."""
        directory = self._directory / _SET_ASIDE
        names = [path.name for path in directory.iterdir()] if directory.exists() else []
        return [name for name in names if is_name(name)]

    def remove_abandoned(self) -> int:
        """Remove unused files."""
        removed = 0
        if self.incoming.exists():
            removed += remove_abandoned(self.incoming.iterdir())
        return removed + remove_abandoned(map(self._aside, self.aside()), older_than=SET_ASIDE_FOR)

    def _aside(self, sha256: str) -> Path:
        return self._directory / _SET_ASIDE / check_name(sha256)


def _bring_to_disk(directory: Path) -> None:
    """Flush a directory to disk, so that its entries survive a power failure."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
