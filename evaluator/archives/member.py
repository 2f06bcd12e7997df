"""One file of an archive."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Member:
    """One regular file, readable until the next member is asked for.

    Attributes:
        name: relative, parts divided by `/`, without `.` and `..`.
        size: bytes, as the archive claims; what `read` yields is as long, or an error.
        had_backslashes: whether the archive divides the parts of the name as Windows does.
    """

    name: str
    size: int
    _read: Callable[[int], bytes]
    had_backslashes: bool = False

    def read(self, first: int | None = None) -> bytes:
        """Return the content, or its first `first` bytes; once.

        Raises:
            ArchiveError: the archive is damaged or passes its limits.
        """
        return self._read(self.size if first is None else min(first, self.size))
