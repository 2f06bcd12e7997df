"""Submissions' archives, and the columns read from them, in a directory, by the SHA-256 of their content.

An upload is written to a temporary file of the same file system, and renamed to its place when it is kept. Whatever
ends the upload before that (a disconnect, a full disk, an exception) leaves nothing behind.
"""

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

from vocboard.app.errors import TooLargeError
from vocboard.app.storage.incoming_file import IncomingFile, remove_abandoned

SET_ASIDE_FOR = timedelta(days=7)  # what no row of the database needs, before it is removed for good
COLUMNS_PER_ARCHIVE = 4  # bytes of columns to a byte of the archive that they were read from
COLUMNS_AT_LEAST = 1024 * 1024  # bytes; however small the archive is
_NAME = re.compile(r"[0-9a-f]{64}")
_INCOMING, _SET_ASIDE = "incoming", "set-aside"


def columns_limit(archive_bytes: int) -> int:
    """How many bytes the columns of an archive of this size may have, to be stored; what they take is then bounded."""
    return COLUMNS_AT_LEAST + COLUMNS_PER_ARCHIVE * archive_bytes


class IncomingArchive(IncomingFile):
    """An upload while it arrives.

    Attributes:
        size: bytes so far.
        limit: how many there may be.
    """

    def __init__(self, store: "ArchiveStore", *, limit: int) -> None:
        super().__init__(store.incoming)
        self._store = store
        self.limit = limit
        self._hash = hashlib.sha256()
        self.size = 0

    def write(self, chunk: bytes) -> None:
        """Append to the upload.

        Raises:
            TooLargeError: it is larger than allowed.
            OSError: the disk is full.
        """
        self.size += len(chunk)
        if self.size > self.limit:
            raise TooLargeError(f"An upload may have at most {self.limit:,} bytes.")
        self._hash.update(chunk)
        self._file.write(chunk)

    @property
    def sha256(self) -> str:
        """SHA-256 of what has arrived, in hexadecimal."""
        return self._hash.hexdigest()

    def keep(self) -> str:
        """Put the upload into the store for good, and return its SHA-256."""
        return self._store.keep(self)


class ArchiveStore:
    """The archives below one directory, at `ab/cdef...` for the SHA-256 `abcdef...`."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    @property
    def incoming(self) -> Path:
        """Where uploads are written while they arrive."""
        return self._directory / _INCOMING

    def receive(self, *, limit: int) -> IncomingArchive:
        """Begin an upload of at most `limit` bytes; use it in a `with` block, which removes what is not kept."""
        self.incoming.mkdir(parents=True, exist_ok=True)
        return IncomingArchive(self, limit=limit)

    def keep(self, archive: IncomingArchive) -> str:
        """Put an upload into its place for good, and return its SHA-256. The same content is stored once."""
        archive.finish()
        target = self.path(archive.sha256)
        if not target.parent.exists():
            target.parent.mkdir(exist_ok=True)
            _bring_to_disk(self._directory)
        archive.path.replace(target)
        _bring_to_disk(target.parent)
        return archive.sha256

    def path(self, sha256: str) -> Path:
        """Where the archive with this content lies, or would lie."""
        if not _NAME.fullmatch(sha256):
            raise ValueError(f"{sha256!r} is not a SHA-256 in hexadecimal")
        return self._directory / sha256[:2] / sha256[2:]

    def verify(self, sha256: str) -> Path:
        """Return the path of an archive after checking its content against its hash.

        Raises:
            FileNotFoundError: there is none.
            DamagedArchiveError: the content has changed since it was stored.
        """
        path = self.path(sha256)
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != sha256:
            raise DamagedArchiveError(f"{path} now has the SHA-256 {found}")
        return path

    def stored(self) -> Iterator[str]:
        """The SHA-256 of every archive in the store, in no order."""
        for folder in self._directory.glob("[0-9a-f][0-9a-f]"):
            for path in folder.iterdir():
                if _NAME.fullmatch(name := folder.name + path.name):
                    yield name

    def remove(self, sha256: str) -> None:
        """Remove an archive, which no row of the database may need any more."""
        self.path(sha256).unlink(missing_ok=True)

    def set_aside(self, sha256: str) -> None:
        """Take an archive that no row of the database knows out of the store, for `SET_ASIDE_FOR`."""
        self._aside(sha256).parent.mkdir(exist_ok=True)
        with suppress(FileNotFoundError):
            os.utime(self.path(sha256))
            self.path(sha256).replace(self._aside(sha256))

    def bring_back(self, sha256: str) -> bool:
        """Put an archive that was set aside into the store again; whether there was one, and none in the store."""
        if self.path(sha256).exists() or not self._aside(sha256).exists():
            return False
        self._aside(sha256).replace(self.path(sha256))
        return True

    def aside(self) -> Sequence[str]:
        """The SHA-256 of every archive that is set aside."""
        directory = self._directory / _SET_ASIDE
        names = [path.name for path in directory.iterdir()] if directory.exists() else []
        return [name for name in names if _NAME.fullmatch(name)]

    def remove_abandoned(self) -> int:
        """Remove what killed processes left while it arrived, and what was set aside long ago; how many files."""
        removed = 0
        if self.incoming.exists():
            removed += remove_abandoned(self.incoming.iterdir())
        return removed + remove_abandoned(map(self._aside, self.aside()), older_than=SET_ASIDE_FOR)

    def _aside(self, sha256: str) -> Path:
        return self._directory / _SET_ASIDE / sha256


class DamagedArchiveError(Exception):
    """A stored archive is not what was uploaded."""


def _bring_to_disk(directory: Path) -> None:
    """Make the names in a directory survive a power cut."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
