"""Files in one place while it is emptied into another (`vocboard admin move-archives`)."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from vocboard.app.storage.objects import Objects

Found = TypeVar("Found")


class MovingObjects:
    """`Objects` in a new place, and in the former one what has not been moved yet; see there for the methods.

    What is moved is in both for a moment, and never in none. Nothing is put into the former place.
    """

    def __init__(self, new: Objects, former: Objects) -> None:
        self._new, self._former = new, former

    @property
    def needs_directory(self) -> bool:
        """Whether one of the two is the local directory itself."""
        return self._new.needs_directory or self._former.needs_directory

    def set_up(self) -> None:
        """Prepare the new place."""
        self._new.set_up()

    def is_ready(self) -> bool:
        """Whether both are ready."""
        return self._new.is_ready() and self._former.is_ready()

    def put(self, path: Path, name: str, *, is_durable: bool = True) -> None:
        """Put into the new place."""
        self._new.put(path, name, is_durable=is_durable)

    @contextmanager
    def local(self, name: str) -> Iterator[Path]:
        """Yield a path of either."""
        with ExitStack() as stack:
            yield self._of_either(lambda place: stack.enter_context(place.local(name)))

    def cached(self, name: str, check: Callable[[Path], object]) -> Path:
        """Return a path of either."""
        return self._of_either(lambda place: place.cached(name, check))

    def link(self, name: str, file_name: str) -> str | None:
        """Return an address of either."""
        return self._of_either(lambda place: place.link(name, file_name))

    def changed_at(self, name: str) -> datetime:
        """Return the time of either."""
        return self._of_either(lambda place: place.changed_at(name))

    def _of_either(self, ask: Callable[[Objects], Found]) -> Found:
        for place in (self._new, self._former):
            with suppress(FileNotFoundError):
                return ask(place)
        return ask(self._new)  # it was moved between the two

    def move(self, name: str, new_name: str) -> bool:
        """Give it another name where it is."""
        in_new, in_former = self._new.move(name, new_name), self._former.move(name, new_name)
        return in_new or in_former

    def remove(self, name: str) -> None:
        """Remove it from both."""
        self._new.remove(name)
        self._former.remove(name)

    def has(self, name: str) -> bool:
        """Whether either has it."""
        return self._new.has(name) or self._former.has(name)

    def names(self, folder: str = "") -> Iterator[str]:
        """Yield the names in both."""
        seen = set(self._former.names(folder))  # first: what is moved meanwhile is in the other then
        yield from seen
        yield from (name for name in self._new.names(folder) if name not in seen)

    def remove_abandoned(self) -> int:
        """Remove what killed processes left in both."""
        return self._new.remove_abandoned() + self._former.remove_abandoned()

    def copy(self) -> None:
        """Put what the former place alone has into the new one, and leave it in the former."""
        for name in {*self._former.names()} - {*self._new.names()}:
            with suppress(FileNotFoundError), self._former.local(name) as path:
                self._new.put(path, name)

    def bring(self, name: str, check: Callable[[Path], object]) -> bool:
        """Move content from the former place to the new one; return whether it was still there.

        Args:
            check: called with the content, which stays where it is if this raises.
        """
        try:
            with self._former.local(name) as path:
                check(path)
                if not self._new.has(name):
                    self._new.put(path, name)
        except FileNotFoundError:
            return False
        self._former.remove(name)
        return True
