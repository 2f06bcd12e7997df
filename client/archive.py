"""The archive on its way out."""

import os
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from vocboard.client.errors import ClientError, MisuseError


class OutgoingArchive:
    """A file as the HTTP library reads it: piece by piece, telling how far it is, and not a byte more than announced.

    Attributes:
        name: its file name, without directories.
        size: in bytes, when it was opened.
        advanced: called with the number of bytes of each piece that goes out; set it before sending.

    Raises:
        MisuseError: there is no such file, it cannot be read, or it is a directory.
    """

    def __init__(self, path: Path) -> None:
        if path.is_dir():
            raise MisuseError(f"{path} is a directory; pack it, for example with `tar czf results.tar.gz {path}`")
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
        """Let the HTTP library learn the length."""
        return self._file.fileno()

    def seek(self, position: int) -> None:
        """Start from the beginning, the only place that is asked for."""
        self._file.seek(position)
        self._left = self.size - position

    def read(self, count: int) -> bytes:
        """Return the next piece, of at most `count` bytes; nothing at the end.

        Raises:
            ClientError: the file has become shorter since it was opened, or cannot be read any more.
        """
        try:
            piece = self._file.read(min(count, self._left))
        except OSError as error:
            raise ClientError(f"cannot read {self.name} to its end: {error.strerror}") from error
        if not piece and self._left:
            raise ClientError(f"{self.name} changed while it was uploaded; try again once it is complete")
        self._left -= len(piece)
        if self.advanced is not None:
            self.advanced(len(piece))
        return piece
