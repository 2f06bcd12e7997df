"""The store of submissions' archives and columns, and of files of challenges.

Content is identified by its SHA-256 and never changes: `abcdef...` is the object `ab/cdef...`. An upload is received
into a local file, because an isolated process reads it before it is stored; if the upload ends early (a disconnect, a
full disk, an exception), the file is removed. The database determines which content is needed; see
`app.submissions.pruning`.

The web process reads and writes; workers only read (`open`, `local_file`) and may have credentials that cannot write.
`vocboard admin prune` runs with the rights of the web process.
"""

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import BinaryIO

from vocboard.app.errors import too_large
from vocboard.app.storage.directory_objects import DirectoryObjects
from vocboard.app.storage.local_files import (
    IncomingFile,
    UnfinishedFiles,
    remove_abandoned,
    reporting_unavailable,
)
from vocboard.app.storage.moving_objects import MovingObjects
from vocboard.app.storage.objects import Objects

SET_ASIDE_FOR = timedelta(days=7)  # how long unreferenced files are set aside before they are deleted
COLUMNS_PER_ARCHIVE = 4  # maximum bytes of columns per byte of the archive
MIN_COLUMNS_BYTES = 1024 * 1024  # bytes that are always allowed
CHUNK_BYTES = 1024 * 1024
INCOMING, UNFINISHED, SET_ASIDE = "incoming", "unfinished", "set-aside/"
_NAME = re.compile(r"[0-9a-f]{64}")
_OBJECT_NAME = re.compile(r"[0-9a-f]{2}/[0-9a-f]{62}")


class ArchiveStore:
    """A store of archives. Methods may be called from several threads and processes.

    Any method raises `StoreUnavailableError` if the store is unavailable, to which the web application answers 503; it
    answers 500 to other `OSError`s, but for those of a full disk. Methods with a SHA-256 raise `ValueError` if it is
    invalid; see `check_name`.
    """

    def __init__(self, directory: Path, objects: Objects | None = None) -> None:
        """Use a store.

        Args:
            directory: local space of uploads in progress.
            objects: where archives are kept; by default in the directory.
        """
        self._directory = directory
        self.objects = objects or DirectoryObjects(directory)

    @property
    def incoming(self) -> Path:
        """Local directory of uploads in progress, which isolated processes can read.

        The same in every instance with the same settings: each web process and `vocboard admin prune` make their own,
        and `remove_abandoned` of one looks for what killed processes left in it.
        """
        return self._directory / INCOMING

    def set_up(self) -> None:
        """Prepare the store. Called when the web application starts. Idempotent."""
        self._directory.mkdir(parents=True, exist_ok=True)
        self.objects.set_up()

    def can_write(self) -> bool:
        """Whether the store is writable, for `/readyz`; False, rather than an exception, if it is unavailable."""
        return self.objects.is_ready()

    def free_bytes(self) -> int:
        """Return the space that is left on the disk that uploads are received on, for `/readyz`, too.

        0 if it has no room for another file, or is not there.
        """
        try:
            disk = os.statvfs(self._directory)
        except OSError:
            return 0
        return disk.f_bavail * disk.f_frsize if disk.f_favail or not disk.f_files else 0

    def receive(self, *, limit: int) -> "IncomingArchive":
        """Begin an upload of at most `limit` bytes. Use it in a `with` block, which removes it unless it is stored."""
        with self._receiving():
            return IncomingArchive(self, limit=limit)

    def receive_columns(self, archive: "IncomingArchive") -> "IncomingArchive":
        """Begin a file for what is read from an archive: as `receive`, but a power failure may lose or damage it.

        Workers compare its hash, and read the archive again if it is wrong.
        """
        with reporting_unavailable():
            return IncomingArchive(self, limit=columns_limit(archive.size), is_durable=False)

    @property
    def unfinished(self) -> UnfinishedFiles:
        """Files of resumable uploads, which all web processes of a machine share, in the file system of `incoming`."""
        return UnfinishedFiles(self._directory / UNFINISHED, parents=not self.objects.needs_directory)

    def adopt(self, content: Path) -> "IncomingArchive":
        """Take a finished file of `unfinished` as an upload, and hash it. The file stays until it is removed there.

        Raises:
            FileNotFoundError: there is none.
            BlockingIOError: somebody still writes to it.
        """
        with self._receiving():
            return IncomingArchive(self, limit=content.stat().st_size, content=content)

    @contextmanager
    def _receiving(self) -> Iterator[None]:
        with reporting_unavailable(self._directory):
            # A directory with archives that is not mounted is not created.
            self.incoming.mkdir(parents=not self.objects.needs_directory, exist_ok=True)
            yield

    def keep(self, archive: "IncomingArchive") -> str:
        """Store an upload permanently, and return its SHA-256. Identical content is stored once.

        When this returns, the content survives a power failure if it is that of an upload; see `receive_columns`.

        It is called at the end of the transaction that accepts the submission, while the archive and the person are
        locked (SQLite: the whole database). A slow store delays this person's other uploads. If this raises, the
        submission is rolled back; if the commit fails after it, the content has no row, and `app.submissions.pruning`
        sets it aside.
        """
        self.objects.put(archive.path, object_name(archive.sha256), is_durable=archive.is_durable)
        return archive.sha256

    @contextmanager
    def open(self, sha256: str) -> Iterator[BinaryIO]:
        """Open an archive for reading, after verifying its hash. The file is seekable.

        Raises:
            FileNotFoundError: there is none.
            DamagedArchiveError: the content does not match the hash.
        """
        with self.objects.local(object_name(sha256)) as path, reporting_unavailable(), path.open("rb") as file:
            check_content(file, sha256)
            file.seek(0)
            yield file

    def file_to_serve(self, sha256: str) -> Path:
        """Return a local path of content that is sent in parts, without verifying its hash each time.

        Raises:
            FileNotFoundError: there is none.
            DamagedArchiveError: it had to be fetched, and does not match the hash.
        """
        return self.objects.cached(object_name(sha256), partial(check_file, sha256=sha256))

    def link(self, sha256: str, file_name: str) -> str | None:
        """Return an address from which anybody can download content for some minutes; None to send it from here.

        Raises:
            FileNotFoundError: there is none.
        """
        return self.objects.link(object_name(sha256), file_name)

    @contextmanager
    def local_file(self, sha256: str) -> Iterator[Path]:
        """Yield a local path of an archive for an isolated process, after verifying its hash.

        The file exists until the block ends.

        Raises:
            FileNotFoundError, DamagedArchiveError: as for `open`.
        """
        with self.objects.local(object_name(sha256)) as path:
            with reporting_unavailable():
                check_file(path, sha256)
            yield path

    def stored(self) -> Iterator[str]:
        """Yield the SHA-256 of every stored archive, in no particular order.

        Pruning and each export of a challenge read all of it.
        """
        for name in self.objects.names():
            if _OBJECT_NAME.fullmatch(name):
                yield name.replace("/", "")

    def has(self, sha256: str) -> bool:
        """Whether an archive is stored."""
        return self.objects.has(object_name(sha256))

    def remove(self, sha256: str) -> None:
        """Remove an archive that no row references, if it exists."""
        self.objects.remove(object_name(sha256))

    def set_aside(self, sha256: str) -> None:
        """Set an unreferenced archive aside, for `SET_ASIDE_FOR`: `stored` and `open` no longer find it.

        A safeguard: a restored backup of the database does not know archives that are newer. Nothing happens if it does
        not exist.
        """
        self.objects.move(object_name(sha256), _aside(sha256))

    def restore(self, sha256: str) -> bool:
        """Move an archive that was set aside back to the store; return whether this was necessary.

        False if it is stored or is not set aside. The caller of this, `set_aside` and `remove` holds the archive's lock
        (`app.submissions.pruning.lock_archives`), so nobody stores or removes it meanwhile.
        """
        name = object_name(sha256)
        return not self.objects.has(name) and self.objects.move(_aside(sha256), name)

    def aside(self) -> Sequence[str]:
        """Return the SHA-256 of every archive that is set aside."""
        names = (name.removeprefix(SET_ASIDE) for name in self.objects.names(SET_ASIDE))
        return [name for name in names if is_name(name)]

    def bring(self) -> tuple[int, list[str]]:
        """Bring everything from the former place, if there is one, to the present one; see `MovingObjects`.

        Returns:
            How much was moved, and the SHA-256 of what is damaged, which stays.
        """
        if not isinstance(self.objects, MovingObjects):
            return 0, []
        moved, damaged = 0, list[str]()
        names = {object_name(sha256): sha256 for sha256 in self.stored()}
        names |= {_aside(sha256): sha256 for sha256 in self.aside()}
        for name, sha256 in names.items():
            try:
                moved += self.objects.bring(name, partial(check_file, sha256=sha256))
            except DamagedArchiveError:
                damaged.append(sha256)
        return moved, damaged

    def remove_abandoned(self) -> int:
        """Remove partial files of killed processes and files set aside long ago; return their number."""
        removed = remove_abandoned(self.incoming.iterdir()) if self.incoming.exists() else 0
        removed += self.objects.remove_abandoned()
        before = datetime.now(UTC) - SET_ASIDE_FOR
        for sha256 in self.aside():
            with suppress(FileNotFoundError):  # removed or restored meanwhile
                if self.objects.changed_at(_aside(sha256)) < before:
                    self.objects.remove(_aside(sha256))
                    removed += 1
        return removed


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


def object_name(sha256: str) -> str:
    """Return the name that content is kept under.

    Raises:
        ValueError: as for `check_name`.
    """
    check_name(sha256)
    return f"{sha256[:2]}/{sha256[2:]}"


def _aside(sha256: str) -> str:
    return SET_ASIDE + check_name(sha256)


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


def check_file(path: Path, sha256: str) -> None:
    """Verify the hash of a file at a path; see `check_content`."""
    with path.open("rb") as file:
        check_content(file, sha256)


def columns_limit(archive_bytes: int) -> int:
    """Return the maximum size of columns to store for an archive of this size."""
    return MIN_COLUMNS_BYTES + COLUMNS_PER_ARCHIVE * archive_bytes
