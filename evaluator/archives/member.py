"""One file of an archive."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Member:
    """A regular file, readable until the next member is requested.

    Attributes:
        name: relative name with parts separated by `/`, without `.` and `..`.
        size: size in bytes according to the archive; `read` returns exactly this many, or raises.
        had_backslashes: whether the archive separates parts of the name by backslashes.
    """

    name: str
    size: int
    _read: Callable[[int], bytes]
    had_backslashes: bool = False

    def read(self, first: int | None = None) -> bytes:
        """Return the content, or its first `first` bytes. Can be called once.

        Raises:
            ArchiveError: the archive is damaged or exceeds its limits.
        """
        return self._read(self.size if first is None else min(first, self.size))
