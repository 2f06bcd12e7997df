"""The interface of archive stores, which keep submissions' archives, and the columns read from them.

Content is named by its SHA-256, and never changes. An upload is received into a file of this machine, since an isolated
process reads it before it is kept; whatever ends the upload before that (a disconnect, a full disk, an exception)
leaves nothing behind. The database says which content is needed: see `app.submissions.pruning`.

`app.storage.directory_store` is the one implementation; `app.storage.stores` chooses.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO, Protocol

from vocboard.app.errors import TooLargeError
from vocboard.app.storage.incoming_file import IncomingFile

SET_ASIDE_FOR = timedelta(days=7)  # how long unreferenced files are set aside before they are deleted
COLUMNS_PER_ARCHIVE = 4  # maximum bytes of columns per byte of the archive
COLUMNS_AT_LEAST = 1024 * 1024  # bytes that are always allowed
CHUNK_BYTES = 1024 * 1024
_NAME = re.compile(r"[0-9a-f]{64}")


class ArchiveStore(Protocol):
    """Where archives are kept. Its methods may be called by several threads and processes at once.

    Any method raises `OSError` if the store cannot be reached, and those that take a SHA-256 `ValueError` if it is
    none: see `check_name`.
    """

    @property
    def incoming(self) -> Path:
        """The directory of this machine in which uploads lie while they arrive. Isolated processes read it."""
        ...

    def set_up(self) -> None:
        """Make ready what the store needs. Called when the web application starts; changes nothing the second time."""
        ...

    def can_write(self) -> bool:
        """Whether the store can be written to now, for health checks."""
        ...

    def receive(self, *, limit: int) -> "IncomingArchive":
        """Begin an upload of at most `limit` bytes. Use it in a `with` block, which removes it unless it is stored."""
        ...

    def keep(self, archive: "IncomingArchive") -> str:
        """Store an upload for good, and return its SHA-256. The same content is stored once.

        When this returns, the content survives a power cut.
        """
        ...

    def open(self, sha256: str) -> AbstractContextManager[BinaryIO]:
        """Open an archive to read and seek, after checking its content against its hash.

        Raises:
            FileNotFoundError: there is none.
            DamagedArchiveError: the content does not match the hash.
        """
        ...

    def local_file(self, sha256: str) -> AbstractContextManager[Path]:
        """Give the path of an archive on this machine, for an isolated process; checked as by `open`.

        The process is given the file's folder, and nothing secret is in it. The file stays until the block ends.

        Raises:
            FileNotFoundError, DamagedArchiveError: as for `open`.
        """
        ...

    def stored(self) -> Iterator[str]:
        """Give the SHA-256 of every archive in the store, in no order."""
        ...

    def remove(self, sha256: str) -> None:
        """Remove an archive, which no row of the database may need any more. Does nothing if there is none."""
        ...

    def set_aside(self, sha256: str) -> None:
        """Set an unreferenced archive aside, for `SET_ASIDE_FOR`."""
        ...

    def restore(self, sha256: str) -> bool:
        """Move an archive that was set aside back to the store; return whether this was necessary."""
        ...

    def aside(self) -> Sequence[str]:
        """Return the SHA-256 of every archive that is set aside."""
        ...

    def remove_abandoned(self) -> int:
        """Remove partial files of killed processes and files set aside long ago; return their number."""
        ...


class IncomingArchive(IncomingFile):
    """An upload while it arrives, in a file of this machine.

    Attributes:
        path: the file, which can be read after `finish`.
        size: bytes received so far.
        limit: maximum number of bytes.
    """

    def __init__(self, store: ArchiveStore, *, limit: int) -> None:
        super().__init__(store.incoming)
        self._store = store
        self.limit = limit
        self._hash = hashlib.sha256()
        self.size = 0

    def write(self, chunk: bytes) -> None:
        """Append data to the upload.

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
        """Hexadecimal SHA-256 of the data received so far."""
        return self._hash.hexdigest()

    def keep(self) -> str:
        """Store the upload permanently, and return its SHA-256."""
        self.finish()
        return self._store.keep(self)


class DamagedArchiveError(Exception):
    """A stored archive does not match its hash."""


def is_name(text: str) -> bool:
    """Whether a text is a SHA-256 in hexadecimal, and so can name an archive."""
    return _NAME.fullmatch(text) is not None


def check_name(sha256: str) -> str:
    """Return a SHA-256 that may become part of a path or an address.

    Raises:
        ValueError: it is not a SHA-256 in hexadecimal.
    """
    if not is_name(sha256):
        raise ValueError(f"{sha256!r} is not a SHA-256 in hexadecimal")
    return sha256


def check_content(file: BinaryIO, sha256: str) -> None:
    """Read a file to its end, and check that it has this hash.

    Raises:
        DamagedArchiveError: it has not.
    """
    digest = hashlib.sha256()
    while chunk := file.read(CHUNK_BYTES):
        digest.update(chunk)
    if digest.hexdigest() != sha256:
        raise DamagedArchiveError(f"the archive {sha256} now has the SHA-256 {digest.hexdigest()}")


def columns_limit(archive_bytes: int) -> int:
    """Return the maximum size of columns to store for an archive of this size."""
    return COLUMNS_AT_LEAST + COLUMNS_PER_ARCHIVE * archive_bytes
