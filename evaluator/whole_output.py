"""Output that is there whole or not at all: written under a temporary name beside its place, then renamed."""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path


class OutputExistsError(Exception):
    """A directory is there that this program has not written, and is not empty; the message says so."""


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Give a temporary path beside `path`; what is written there becomes `path` at the end, or vanishes on any error.

    Raises:
        OSError: the directory of `path` cannot be written to.
    """
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    os.close(descriptor)
    unfinished = Path(name)
    try:
        yield unfinished
        unfinished.chmod(0o666 & ~_umask())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


@contextlib.contextmanager
def whole_directory(path: Path, marker: str) -> Iterator[Path]:
    """Give a temporary directory beside `path`, which becomes `path` at the end, or vanishes on any error.

    Args:
        path: of the directory; what an earlier call wrote there is replaced.
        marker: file that every such output has, by which it is recognised as one.

    Raises:
        OutputExistsError: there is something else at `path`.
        OSError: the directory above cannot be written to.
    """
    if path.exists() and not (path.is_dir() and (not any(path.iterdir()) or (path / marker).is_file())):
        raise OutputExistsError(f"{path} is there already and is no output of this command; name another place")
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    try:
        yield unfinished
        unfinished.chmod(0o777 & ~_umask())
        if path.exists():
            shutil.rmtree(path)
        unfinished.rename(path)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
