"""Numbers of large challenges, which are counted at most once a minute in a process."""

from collections.abc import Hashable
from datetime import timedelta
from threading import Lock
from typing import Generic, TypeVar

from cachetools import TTLCache

KEPT_FOR = timedelta(minutes=1)
LARGE = 10_000  # submissions; fewer are counted within milliseconds

Value = TypeVar("Value")


class Recent(Generic[Value]):
    """Values that were kept at most `KEPT_FOR` ago."""

    def __init__(self) -> None:
        self._values: TTLCache[Hashable, Value] = TTLCache(maxsize=1000, ttl=KEPT_FOR.total_seconds())
        self._lock = Lock()

    def get(self, key: Hashable) -> Value | None:
        """Return the value of a key; None if there is none."""
        with self._lock:
            return self._values.get(key)

    def keep(self, key: Hashable, value: Value) -> None:
        """Keep a value, in place of an earlier one."""
        with self._lock:
            self._values[key] = value
