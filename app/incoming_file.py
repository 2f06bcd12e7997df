"""A file while it arrives: in its final file system under a temporary name, gone unless it is moved away."""

import os
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self


class IncomingFile:
    """A temporary file that only this user can read; leaving the `with` block removes what was not moved away.

    Attributes:
        path: where it is.
    """

    def __init__(self, directory: Path, *, prefix: str = "") -> None:
        descriptor, name = tempfile.mkstemp(dir=directory, prefix=prefix)
        self.path = Path(name)
        self._file = os.fdopen(descriptor, "wb")

    def finish(self) -> None:
        """Bring the whole file to the disk; afterwards `path` can be read. Does nothing the second time."""
        if not self._file.closed:
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            self._file.close()
        except OSError:  # a full disk shows once more when what is buffered is written; it has been reported
            if error is None:
                raise
        finally:
            self.path.unlink(missing_ok=True)
