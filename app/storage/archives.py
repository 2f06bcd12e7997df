"""The interface of stores for submissions' archives and columns.

Content is identified by its SHA-256 and never changes. An upload is received into a local file, because an isolated
process reads it before it is stored; if the upload ends early (a disconnect, a full disk, an exception), the file is
removed. The database determines which content is needed; see `app.submissions.pruning`.

`app.storage.stores` selects the implementation: `app.storage.directory_store`. A store that is not a file
system, such as an object store, needs a local directory for `incoming` and for `local_file`.

The web process reads and writes; workers only read (`open`, `local_file`) and may have credentials that cannot write.
`vocboard admin prune` runs with the rights of the web process.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO, Protocol

from vocboard.app.errors import too_large
from vocboard.app.storage.local_files import IncomingFile, UnfinishedFiles

SET_ASIDE_FOR = timedelta(days=7)  # how long unreferenced files are set aside before they are deleted
COLUMNS_PER_ARCHIVE = 4  # maximum bytes of columns per byte of the archive
MIN_COLUMNS_BYTES = 1024 * 1024  # bytes that are always allowed
CHUNK_BYTES = 1024 * 1024
_NAME = re.compile(r"[0-9a-f]{64}")


class ArchiveStore(Protocol):
    """A store of archives. Methods may be called from several threads and processes.

    Any method raises `StoreUnavailableError` if the store is unavailable, to which the web application answers 503; it
    answers 500 to other `OSError`s, but for those of a full disk. Methods with a SHA-256 raise `ValueError` if it is
    invalid; see `check_name`.
    """

    @property
    def incoming(self) -> Path:
        """Local directory of uploads in progress, which isolated processes can read.

        The same in every instance with the same settings: each web process and `vocboard admin prune` make their own,
        and `remove_abandoned` of one looks for what killed processes left in it.
        """
        ...

    def set_up(self) -> None:
        """Prepare the store. Called when the web application starts. Idempotent."""
        ...

    def can_write(self) -> bool:
        """Whether the store is writable, for `/readyz`, which is called every few seconds: it must be fast and cheap.

        An object store should check that it is reachable and its bucket exists, within a short timeout, and cache the
        result. False, rather than an exception, if the store is unavailable.
        """
        ...

    def free_bytes(self) -> int:
        """Return the space that is left on the disk that uploads are received on, for `/readyz`, too."""
        ...

    def receive(self, *, limit: int) -> "IncomingArchive":
        """Begin an upload of at most `limit` bytes. Use it in a `with` block, which removes it unless it is stored."""
        ...

    def receive_columns(self, archive: "IncomingArchive") -> "IncomingArchive":
        """Begin a file for what is read from an archive: as `receive`, but a power failure may lose or damage it."""
        ...

    @property
    def unfinished(self) -> UnfinishedFiles:
        """Files of resumable uploads, which all web processes share, in the file system of `incoming`."""
        ...

    def adopt(self, content: Path) -> "IncomingArchive":
        """Take a finished file of `unfinished` as an upload, and hash it. The file stays until it is removed there.

        Raises:
            FileNotFoundError: there is none.
            BlockingIOError: somebody still writes to it.
        """
        ...

    def keep(self, archive: "IncomingArchive") -> str:
        """Store an upload permanently, and return its SHA-256. Identical content is stored once.

        When this returns, the content survives a power failure if it is that of an upload; see `receive_columns`.

        It is called at the end of the transaction that accepts the submission, while the archive and the person are
        locked (SQLite: the whole database). A slow store delays this person's other uploads, so it needs a timeout. If
        this raises, the submission is rolled back; if the commit fails after it, the content has no row, and
        `app.submissions.pruning` sets it aside.
        """
        ...

    def open(self, sha256: str) -> AbstractContextManager[BinaryIO]:
        """Open an archive for reading, after verifying its hash. The file must be seekable.

        Raises:
            FileNotFoundError: there is none.
            DamagedArchiveError: the content does not match the hash.
        """
        ...

    def file_to_serve(self, sha256: str) -> Path:
        """Return a local path of content that is sent in parts, without verifying its hash each time.

        A store that is not a file system downloads it to local disk, and keeps it there for a while.

        Raises:
            FileNotFoundError: there is none.
        """
        ...

    def local_file(self, sha256: str) -> AbstractContextManager[Path]:
        """Yield a local path of an archive for an isolated process, after verifying its hash.

        The process gets access to the file's folder, which must not contain secrets. The file exists until the block
        ends. A store that is not a file system downloads it into a new folder on local disk, and deletes it afterwards;
        several processes do so at once.

        Raises:
            FileNotFoundError, DamagedArchiveError: as for `open`.
        """
        ...

    def stored(self) -> Iterator[str]:
        """Yield the SHA-256 of every stored archive, in no particular order.

        Pruning and each export of a challenge read all of it, so an object store should list names in pages, without
        asking for each object.
        """
        ...

    def remove(self, sha256: str) -> None:
        """Remove an archive that no row references, if it exists."""
        ...

    def set_aside(self, sha256: str) -> None:
        """Set an unreferenced archive aside, for `SET_ASIDE_FOR`: `stored` and `open` no longer find it.

        A safeguard: a restored backup of the database does not know archives that are newer. In an object store, copy
        it under another prefix with the current time, then delete it. Nothing happens if it does not exist.
        """
        ...

    def restore(self, sha256: str) -> bool:
        """Move an archive that was set aside back to the store; return whether this was necessary.

        False if it is stored or is not set aside. The caller of this, `set_aside` and `remove` holds the archive's lock
        (`app.submissions.pruning.lock_archive`), so nobody stores or removes it meanwhile.
        """
        ...

    def aside(self) -> Sequence[str]:
        """Return the SHA-256 of every archive that is set aside."""
        ...

    def remove_abandoned(self) -> int:
        """Remove partial files of killed processes and files set aside long ago; return their number."""
        ...


class IncomingArchive(IncomingFile):
    """An upload in progress, in a local file.

    Attributes:
        path: the file, which can be read after `flush` or `finish`.
        size: bytes received so far.
        limit: maximum number of bytes.
    """

    def __init__(
        self, store: ArchiveStore, *, limit: int, content: Path | None = None, is_durable: bool = True
    ) -> None:
        super().__init__(store.incoming, content=content, is_durable=is_durable)
        self._store = store
        self.limit = limit
        self._hash = hashlib.sha256()
        self.size = 0
        if content is not None:
            try:
                while chunk := self._file.read(CHUNK_BYTES):
                    self._hash.update(chunk)
                    self.size += len(chunk)
            except BaseException:
                self.remove()
                raise

    def write(self, chunk: bytes | memoryview) -> None:
        """Append data to the upload.

        Raises:
            TooLargeError: it is larger than allowed.
            OSError: the disk is full.
        """
        self.size += len(chunk)
        if self.size > self.limit:
            raise too_large(self.limit)
        self._hash.update(chunk)
        self._file.write(chunk)

    def clear(self) -> None:
        """Remove what was written, to begin again."""
        self._file.seek(0)
        self._file.truncate()
        self._hash = hashlib.sha256()
        self.size = 0

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
    """Whether a text is a hexadecimal SHA-256."""
    return _NAME.fullmatch(text) is not None


def check_name(sha256: str) -> str:
    """Return a SHA-256 after checking that it can be part of a path or URL.

    Raises:
        ValueError: it is not a hexadecimal SHA-256.
    """
    if not is_name(sha256):
        raise ValueError(f"{sha256!r} is not a SHA-256 in hexadecimal")
    return sha256


def check_content(file: BinaryIO, sha256: str) -> None:
    """Verify the hash of a file.

    Raises:
        DamagedArchiveError: the hash does not match.
    """
    digest = hashlib.sha256()
    while chunk := file.read(CHUNK_BYTES):
        digest.update(chunk)
    if digest.hexdigest() != sha256:
        raise DamagedArchiveError(f"the archive {sha256} now has the SHA-256 {digest.hexdigest()}")


def columns_limit(archive_bytes: int) -> int:
    """Return the maximum size of columns to store for an archive of this size."""
    return MIN_COLUMNS_BYTES + COLUMNS_PER_ARCHIVE * archive_bytes
