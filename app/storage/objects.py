"""The interface of places for files that several processes share.

`app.storage.directory_objects` keeps them in a directory, `app.storage.s3_objects` in an object store, and
`app.storage.moving_objects` in one of these while it is emptied into the other. What is kept, and under which names, is
up to its users: `app.storage.archives`, `app.storage.ground_truth_inbox`, and `worker.ground_truth_files`.

Names are relative paths, such as `ab/cdef`. Methods may be called from several threads and processes. Any of them
raises `StoreUnavailableError` if the place is unavailable.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import Protocol


class Objects(Protocol):
    """A place for files."""

    @property
    def needs_directory(self) -> bool:
        """Whether the local directory is the place itself, so that it must not be made again if it is missing."""
        ...

    def set_up(self) -> None:
        """Prepare the place. Called when the web application starts. Idempotent."""
        ...

    def is_ready(self) -> bool:
        """Whether files can be kept, for `/readyz`, which is called every few seconds: it must be fast and cheap.

        False, rather than an exception, if the place is unavailable.
        """
        ...

    def put(self, path: Path, name: str, *, is_durable: bool = True) -> None:
        """Keep a complete local file under a name, in place of what has it. The file may be moved away.

        Args:
            is_durable: whether it has to survive a power failure when this returns.
        """
        ...

    def local(self, name: str) -> AbstractContextManager[Path]:
        """Yield a local path with the content, which exists until the block ends.

        Raises:
            FileNotFoundError: there is none.
        """
        ...

    def cached(self, name: str, check: Callable[[Path], object]) -> Path:
        """Return a local path with the content, which exists for a while.

        Args:
            check: called with a new copy, which is not used if it raises.

        Raises:
            FileNotFoundError: there is none.
        """
        ...

    def link(self, name: str, file_name: str) -> str | None:
        """Return an address from which anybody can download the content for some minutes; None to send it from here.

        Args:
            file_name: under which browsers save it.

        Raises:
            FileNotFoundError: there is none.
        """
        ...

    def move(self, name: str, new_name: str) -> bool:
        """Give content another name, as if it had been put now; return whether there was any."""
        ...

    def remove(self, name: str) -> None:
        """Remove content, if there is any."""
        ...

    def has(self, name: str) -> bool:
        """Whether there is content."""
        ...

    def names(self, folder: str = "") -> Iterator[str]:
        """Yield all names, in no particular order; with a folder, such as `set-aside/`, those that begin with it."""
        ...

    def changed_at(self, name: str) -> datetime:
        """Return when content was put or moved.

        Raises:
            FileNotFoundError: there is none.
        """
        ...

    def remove_abandoned(self) -> int:
        """Remove what killed processes left; return how many files."""
        ...
