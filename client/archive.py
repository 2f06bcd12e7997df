"""The archive to upload, as a file-like object."""

import os
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from vocboard.client.errors import ClientError, MisuseError


class OutgoingArchive:
    """A file that the HTTP library reads in chunks. It reports progress and never returns more bytes than announced.

    Attributes:
        name: its file name, without directories.
        size: in bytes, when the file was opened.
        advanced: called with the size of each chunk that is sent; set it before sending.

    Raises:
        MisuseError: the file does not exist, cannot be read, or is a directory.
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
        self.name = path.name
        self.size = os.fstat(self._file.fileno()).st_size
        self.advanced: Callable[[int], object] | None = None
        self._left = self.size

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def fileno(self) -> int:
        """Return the file descriptor, from which the HTTP library gets the length."""
        return self._file.fileno()

    def seek(self, position: int) -> None:
        """Seek to a position; the HTTP library only asks for the start."""
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
            raise ClientError(f"{self.name} changed during the upload; try again when the file is complete")
        self._left -= len(piece)
        if self.advanced is not None:
            self.advanced(len(piece))
        return piece
