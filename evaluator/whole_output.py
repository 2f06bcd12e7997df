"""Atomic output: written under a temporary name in the same directory, then renamed."""

import contextlib
import errno
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Collection, Iterator
from pathlib import Path, PurePath

MANIFEST = ".vocboard-files.json"  # in a written directory: the SHA-256 of each file
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_LISTED = 20  # files in a message


class OutputExistsError(Exception):
    """The output directory exists, and replacing it would delete files that were not written by this program."""


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
        with _naming(path):
            unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


@contextlib.contextmanager
def whole_directory(path: Path, kind: str) -> Iterator[Path]:
    """Yield a temporary directory next to `path`, which is renamed to `path` at the end, or removed on errors.

    Output of an earlier call is replaced if it has exactly the files that call wrote, which `MANIFEST` in the directory
    lists. Nothing else is ever deleted.

    Args:
        path: the directory.
        kind: what is written, for example "view"; output of another kind is not replaced.

    Raises:
        OutputExistsError: `path` exists, and is not such output, or has files that were added or changed since.
        OSError: the parent directory cannot be written to.
    """
    path = path.resolve() if path.is_symlink() else path
    _replaceable(path, kind)
    with _naming(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    try:
        with _naming(path, only=_FULL):
            yield unfinished
            written = {name: _digest(unfinished / name) for name in sorted(_contents(unfinished)[0])}
            (unfinished / MANIFEST).write_text(json.dumps({"kind": kind, "files": written}, indent=0) + "\n")
        unfinished.chmod(0o777 & ~_umask())
        if path.exists():
            _delete(path, _replaceable(path, kind))  # again: files may have been added since
        unfinished.rename(path)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _replaceable(path: Path, kind: str) -> frozenset[str]:
    """Return the files of earlier output, all of which can be deleted.

    Raises:
        OutputExistsError: there are other files, or it is no output of this kind.
    """
    if not path.exists():
        return frozenset()
    if not path.is_dir():
        raise OutputExistsError(f"{path} is a file; choose another path")
    files, folders = _contents(path)
    if not files and not folders:
        return frozenset()
    try:
        manifest = json.loads((path / MANIFEST).read_bytes())
        is_kind, digests = manifest["kind"] == kind, dict(manifest["files"])
    except (OSError, ValueError, TypeError, KeyError):
        is_kind, digests = False, {}
    if not is_kind:
        raise OutputExistsError(f"{path} already exists and was not written by this command; choose another path")
    known_folders = {str(parent) for name in digests for parent in PurePath(name).parents}
    own = {name for name in files if name == MANIFEST or (name in digests and digests[name] == _digest(path / name))}
    others = sorted([*(files - own), *(f"{name}/" for name in folders - known_folders)])
    if others:
        listed = [f"  {name}{' (changed)' if name in digests else ''}" for name in others[:_LISTED]]
        more = [f"  and {len(others) - _LISTED:,} more"] if len(others) > _LISTED else []
        found = f"{path} has files that this command did not write, so it is not replaced:"
        raise OutputExistsError("\n".join([found, *listed, *more, "Move them, or choose another path."]))
    return frozenset(own)


def _contents(path: Path) -> tuple[set[str], set[str]]:
    """Return the files and the folders below a directory, relative to it; links count as files."""
    files: set[str] = set()
    folders: set[str] = set()
    for each in path.rglob("*"):
        (folders if each.is_dir() and not each.is_symlink() else files).add(str(each.relative_to(path)))
    return files, folders


def _digest(path: Path) -> str:
    """Return a file's SHA-256; empty for what is not a regular file, and so was not written here."""
    if path.is_symlink() or not path.is_file():
        return ""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _delete(path: Path, files: Collection[str]) -> None:
    """Delete these files and the folders that they leave empty, `path` among them."""
    for name in files:
        (path / name).unlink()
    for folder in sorted((each for each in path.rglob("*") if each.is_dir()), reverse=True):
        folder.rmdir()
    path.rmdir()


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
