"""Errors of the disk during an upload, as errors that say what happened to the user."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from vocboard.app.errors import StorageFullError
from vocboard.app.storage.availability import reporting_unavailable

_ERRORS = frozenset({errno.ENOSPC, errno.EDQUOT})


def disk_is_full() -> StorageFullError:
    """Return the error."""
    return StorageFullError(
        "The server has no disk space left for this upload. Nothing is wrong with your archive, and no quota was used. "
        "Try again later, or tell the operators of this server."
    )


@contextmanager
def reporting_disk_errors() -> Iterator[None]:
    """Raise `StorageFullError` if the disk is full when the block fails, `StoreUnavailableError` if it is damaged."""
    try:
        with reporting_unavailable():
            yield
    except OSError as error:
        if error.errno in _ERRORS:
            raise disk_is_full() from error
        raise
