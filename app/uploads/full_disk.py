"""A full disk, as an error that says what happened to the user."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from vocboard.app.errors import StorageFullError

_ERRORS = frozenset({errno.ENOSPC, errno.EDQUOT})


def disk_is_full() -> StorageFullError:
    """Return the error."""
    return StorageFullError(
        "The server has no disk space left for this upload. Nothing is wrong with your archive, and no quota was used. "
        "Try again later, or tell the operators of this server."
    )


@contextmanager
def reporting_full_disk() -> Iterator[None]:
    """Raise `StorageFullError` if the block fails because the disk is full."""
    try:
        yield
    except OSError as error:
        if error.errno in _ERRORS:
            raise disk_is_full() from error
        raise
