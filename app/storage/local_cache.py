"""Copies of content that is kept elsewhere, on local disk, with a limit."""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from vocboard.app.storage.local_files import IncomingFile, remove_abandoned

KEPT_FOR = 60.0  # seconds for which what was used just now is not removed, whatever the limit
_INCOMING = ".incoming-"


class LocalCache:
    """A directory of copies, which several processes share. The copy that was not used for longest makes way.

    Args of the constructor:
        directory: made when it is needed; nobody else writes to it.
        limit_bytes: of all copies together.
    """

    def __init__(self, directory: Path, limit_bytes: int) -> None:
        self._directory = directory
        self._limit_bytes = limit_bytes

    def path(self, name: str, fetch: Callable[[IncomingFile], object]) -> Path:
        """Return the path of a copy, which stays for at least `KEPT_FOR`.

        Args:
            fetch: writes the content, if there is no copy; called by several processes at once, if they need it.
        """
        path = self._directory / name
        try:
            os.utime(path)
        except FileNotFoundError:
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            with IncomingFile(self._directory, prefix=_INCOMING) as copy:
                fetch(copy)
                copy.finish()  # after a power failure, nobody would notice that it is empty
                copy.path.replace(path)
            self._make_room()
        return path

    def _make_room(self) -> None:
        remove_abandoned(self._directory.glob(f"{_INCOMING}*"))
        copies = []
        for path in self._directory.iterdir():
            with suppress(FileNotFoundError):
                found = path.stat()
                copies.append((found.st_mtime, found.st_size, path))
        total = sum(size for _, size, _ in copies)
        for used_at, size, path in sorted(copies):
            if total <= self._limit_bytes or used_at > time.time() - KEPT_FOR:
                return
            path.unlink(missing_ok=True)
            total -= size
