"""Atomic output: written under a temporary name in the same directory, then renamed."""

import contextlib
import errno
import os
import shutil
import tempfile
from collections.abc import Collection, Iterator
from pathlib import Path

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class OutputExistsError(Exception):
    """The output directory exists, is not empty, and was not written by this program."""


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path in the same directory, which is renamed to `path` at the end, or removed on errors.

    Raises:
        OSError: the directory of `path` cannot be written to.
    """
    with _naming(path):
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    os.close(descriptor)
    unfinished = Path(name)
    try:
        with _naming(path, only=_FULL):
            yield unfinished
        unfinished.chmod(0o666 & ~_umask())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


@contextlib.contextmanager
def whole_directory(path: Path, marker: str) -> Iterator[Path]:
    """Yield a temporary directory next to `path`, which is renamed to `path` at the end, or removed on errors.

    Args:
        path: the directory; output of an earlier call is replaced.
        marker: file that identifies output of this program.

    Raises:
        OutputExistsError: `path` exists and was not written by this program.
        OSError: the parent directory cannot be written to.
    """
    if path.exists() and not (path.is_dir() and (not any(path.iterdir()) or (path / marker).is_file())):
        raise OutputExistsError(f"{path} already exists and was not written by this command; choose another path")
    with _naming(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    try:
        with _naming(path, only=_FULL):
            yield unfinished
        unfinished.chmod(0o777 & ~_umask())
        if path.exists():
            shutil.rmtree(path)
        unfinished.rename(path)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


@contextlib.contextmanager
def _naming(path: Path, *, only: Collection[int] = ()) -> Iterator[None]:
    """Name the output in errors of the operating system, which have the temporary name or, on writing, none.

    Args:
        only: numbers of the errors to name it in. Default: all.
    """
    try:
        yield
    except OSError as error:
        if only and error.errno not in only:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
