"""Things that are kept as long as there is room: what was not used for longest goes first."""

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Thing = TypeVar("Thing")


class Kept(Generic[Key, Thing]):
    """Things by key, of at most so much weight in all. Threads may share it.

    >>> kept = Kept[str, str](most=5)
    >>> kept.put("a", "first", 3), kept.put("b", "second", 2), kept.get("a"), kept.put("c", "third", 2)
    (None, None, 'first', None)
    >>> kept.get("a"), kept.get("b"), kept.get("c")
    ('first', None, 'third')
    """

    def __init__(self, most: int) -> None:
        self._room = most
        self._things: OrderedDict[Key, tuple[Thing, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Key) -> Thing | None:
        """Return what is kept under a key, if it is still there."""
        with self._lock:
            if key not in self._things:
                return None
            self._things.move_to_end(key)
            return self._things[key][0]

    def put(self, key: Key, thing: Thing, weight: int) -> None:
        """Keep a thing in place of what was kept under its key; one that is too heavy by itself is not kept."""
        with self._lock:
            if key in self._things:
                self._room += self._things.pop(key)[1]
            self._things[key] = (thing, weight)
            self._room -= weight
            while self._room < 0:
                _, (_, freed) = self._things.popitem(last=False)
                self._room += freed
