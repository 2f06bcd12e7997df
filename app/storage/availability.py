"""A store of archives that cannot be reached, read or written."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_ERRORS = frozenset(
    {
        errno.EACCES,
        errno.EHOSTDOWN,
        errno.EHOSTUNREACH,
        errno.EIO,
        errno.ENODEV,
        errno.ENOTCONN,
        errno.ENOTDIR,
        errno.ENXIO,
        errno.EPERM,
        errno.EROFS,
        errno.ESTALE,
        errno.ETIMEDOUT,
    }
)


class StoreUnavailableError(OSError):
    """The store cannot be used at the moment, whatever is asked of it. The web application answers 503."""


@contextmanager
def reporting_unavailable(directory: Path | None = None) -> Iterator[None]:
    """Raise `StoreUnavailableError` if the block fails because the store cannot be used.

    Args:
        directory: of the store. If it does not exist, a file missing in it does not count as a missing archive.
    """
    try:
        yield
    except OSError as error:
        is_gone = error.errno == errno.ENOENT and directory is not None and not directory.exists()
        if error.errno in _ERRORS or is_gone:
            raise StoreUnavailableError(error.errno, error.strerror, error.filename) from error
        raise
