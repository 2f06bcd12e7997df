"""The archive to upload, as a file-like object."""

import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from vocboard.client.errors import ChangedArchiveError, ClientError, MisuseError

HASHED_BYTES = 1024 * 1024
STANDARD_INPUT = Path("-")


@contextmanager
def opened(path: Path) -> Iterator["OutgoingArchive"]:
    """Open an archive; `-` is that on standard input, which is copied to a temporary file.

    The copy is needed because parts may have to be sent again. Later, an archive with the same content continues the
    upload.

    Raises:
        MisuseError: see `OutgoingArchive`; or standard input is a terminal, or empty.
        ClientError: there is no room for the copy.
    """
    if path != STANDARD_INPUT:
        with OutgoingArchive(path) as archive:
            yield archive
        return
    if sys.stdin.isatty():
        raise MisuseError("standard input is a terminal; pipe an archive to the command, or name a file")
    with tempfile.TemporaryDirectory(prefix="vocboard-") as directory:
        copy = Path(directory) / "standard-input"
        try:
            with copy.open("wb") as file:
                shutil.copyfileobj(sys.stdin.buffer, file, HASHED_BYTES)
        except OSError as error:
            raise ClientError(f"cannot copy standard input to {copy}: {error.strerror}") from error
        if not copy.stat().st_size:
            raise MisuseError("standard input is empty")
        with OutgoingArchive(copy) as archive:
            yield archive


class OutgoingArchive:
    """A file that is read in chunks. It never returns more bytes than it had when it was opened.

    Attributes:
        path: where it is.
        name: its file name, without directories.
        size: in bytes, when the file was opened.

    Raises:
        MisuseError: the file does not exist, cannot be read, is empty or a pipe, or is a directory.
    """

    def __init__(self, path: Path) -> None:
        if path.is_dir():
            raise MisuseError(
                f"{path} is a directory; create an archive first, for example with `tar czf results.tar.gz {path}`"
            )
        try:
            self._file = path.open("rb")
        except OSError as error:
            raise MisuseError(f"cannot read {path}: {error.strerror}") from error
        self.path = path
        self.name = path.name
        self._opened = os.fstat(self._file.fileno())
        self.size = self._opened.st_size
        if not self.size:
            what = "empty" if self._file.seekable() else "a pipe; `vocboard submit CHALLENGE -` reads standard input"
            self._file.close()
            raise MisuseError(f"{path} is {what}")
        self._left = self.size

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def sha256(self) -> str:
        """Read the file, and return its SHA-256 in hexadecimal.

        Raises:
            ChangedArchiveError: the file has changed since it was opened.
        """
        digest = hashlib.sha256()
        self._file.seek(0)
        while piece := self._file.read(HASHED_BYTES):
            digest.update(piece)
        self._file.seek(0)
        self.check_unchanged()
        return digest.hexdigest()

    def check_unchanged(self) -> None:
        """Check that the file is as it was when it was opened.

        Raises:
            ChangedArchiveError: it is not.
        """
        present = os.fstat(self._file.fileno())
        if (present.st_size, present.st_mtime_ns) != (self._opened.st_size, self._opened.st_mtime_ns):
            raise ChangedArchiveError(
                f"{self.name} changed on disk during the upload; run the command again when the file is complete"
            )

    def seek(self, position: int) -> None:
        """Continue reading at a position."""
        self._file.seek(position)
        self._left = self.size - position

    def read(self, count: int) -> bytes:
        """Return the next chunk, of at most `count` bytes; empty at the end.

        Raises:
            ClientError: the file became shorter after it was opened, or can no longer be read.
        """
        try:
            piece = self._file.read(min(count, self._left))
        except OSError as error:
            raise ClientError(f"cannot read all of {self.name}: {error.strerror}") from error
        if not piece and self._left:
            raise ChangedArchiveError(
                f"{self.name} changed on disk during the upload; run the command again when the file is complete"
            )
        self._left -= len(piece)
        return piece
