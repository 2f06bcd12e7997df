"""The directory that backups are written to, which knows no key that opens them.

    contents/ab/cdef...    each content once, sealed, under its SHA-256 (`abcdef...`); it never changes
    snapshots/NAME/        one backup: `database`, sealed; `files`, the SHA-256 and the name of everything else in it

A later backup only adds the contents that are new, so copying the directory elsewhere is incremental, too.
"""

import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

from nacl.public import PrivateKey, PublicKey

from vocboard.app.storage.archives import CHUNK_BYTES
from vocboard.app.storage.sealed_files import SealingStream, unseal

ARCHIVES, TRUTH, SEALED_TRUTH = "archives", "truth", "sealed-truth"  # what a file belongs to
_PARTIAL = ".partial"
_LINE = re.compile(rf"([0-9a-f]{{64}})  ({ARCHIVES}|{TRUTH}|{SEALED_TRUTH})/([^/\n]+)")


class File(NamedTuple):
    """A file of a backup: a content of the archive store, or a file of the directory of ground truth."""

    sha256: str
    part: str
    name: str


class Repository:
    """The directory of backups."""

    def __init__(self, directory: Path) -> None:
        self._contents, self._snapshots = directory / "contents", directory / "snapshots"
        self._directory = directory

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep others from writing, and remove what an interrupted backup has left.

        Raises:
            BlockingIOError: another backup is being written.
            OSError: the directory cannot be written.
        """
        for directory in (self._contents, self._snapshots):
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(self._directory, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for path in self._contents.glob(f"*{_PARTIAL}"):
                path.unlink()
            for path in self._snapshots.glob(f"*{_PARTIAL}"):
                shutil.rmtree(path)
            yield
        finally:
            os.close(descriptor)

    def names(self) -> Sequence[str]:
        """Return the names of all backups, the oldest first."""
        if not self._snapshots.is_dir():
            return ()
        return sorted(path.name for path in self._snapshots.iterdir() if path.suffix != _PARTIAL)

    def files(self, name: str) -> Sequence[File]:
        """Return the files of a backup, except for the database."""
        listed = (self._snapshots / name / "files").read_text(encoding="utf-8")
        return [File(*match.groups()) for match in _LINE.finditer(listed)]

    def has(self, sha256: str) -> bool:
        """Whether a content is here."""
        return self._content(sha256).exists()

    def add(self, source: BinaryIO, sha256: str, key: PublicKey) -> None:
        """Add a content whose hash was verified, sealed."""
        target = self._content(sha256)
        target.parent.mkdir(mode=0o700, exist_ok=True)
        with _written(target, self._contents) as file:
            sealing = SealingStream(file, key, purpose=_purpose(sha256))
            while chunk := source.read(CHUNK_BYTES):
                sealing.write(chunk)
            sealing.finish()

    def open(self, sha256: str, key: PrivateKey) -> Iterator[bytes]:
        """Yield a content; it is only authentic after the end.

        Raises:
            FileNotFoundError: it is not here.
            SealError: it is damaged, or sealed to another key.
        """
        return unseal(self._content(sha256), key, purpose=_purpose(sha256))

    @contextmanager
    def new(self, name: str, key: PublicKey) -> Iterator[tuple[SealingStream, list[File]]]:
        """Write a backup: its database into the stream, its files into the list. It is there when the block ends."""
        partial = self._snapshots / f"{name}{_PARTIAL}"
        partial.mkdir(mode=0o700)
        files: list[File] = []
        with _written(partial / "database", partial) as file:
            sealing = SealingStream(file, key, purpose=_purpose(name))
            yield sealing, files
            sealing.finish()
        with _written(partial / "files", partial) as file:
            file.writelines(f"{one.sha256}  {one.part}/{one.name}\n".encode() for one in files)
        partial.rename(self._snapshots / name)

    def database(self, name: str, key: PrivateKey) -> Iterator[bytes]:
        """Yield the database of a backup, as `open`."""
        return unseal(self._snapshots / name / "database", key, purpose=_purpose(name))

    def keep(self, count: int) -> int:
        """Remove all backups but the newest, and what they alone need; return their number."""
        *_, removed = [], self.names()[:-count]
        for name in removed:
            path = self._snapshots / name
            shutil.rmtree(path.rename(path.with_name(f"{name}{_PARTIAL}")))
        needed = {file.sha256 for name in self.names() for file in self.files(name)}
        for path in self._contents.glob("??/*"):
            if path.parent.name + path.name not in needed:
                path.unlink()
        return len(removed)

    def _content(self, sha256: str) -> Path:
        return self._contents / sha256[:2] / sha256[2:]


@contextmanager
def _written(target: Path, beside: Path) -> Iterator[BinaryIO]:
    """Give a file that is there, on the disk and complete, when the block has ended."""
    descriptor, name = tempfile.mkstemp(dir=beside, suffix=_PARTIAL)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _purpose(name: str) -> bytes:
    return f"backup {name}".encode()
