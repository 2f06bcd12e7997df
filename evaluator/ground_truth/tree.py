"""Reads files of a development kit tree from a directory or an archive.

The folder `VOC<year>/` can be at the top, below `VOCdevkit/`, or be the tree itself. Trees are large (VOC2012: 50,000
files), so only requested files are read.
"""

import os
import stat
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from vocboard.evaluator.archives import TREE_LIMITS, ArchiveError, members
from vocboard.evaluator.problems import Problem
from vocboard.evaluator.problems.archives import NOT_AN_ARCHIVE
from vocboard.evaluator.problems.trees import TreeProblems, some

MIB = 1024 * 1024
FOLDERS_LISTED, MAX_FOLDERS, FOLDER_DEPTH = 12, 1000, 2  # of what a message says of a tree without image sets
MAXIMUM_BYTES = 64 * MIB  # maximum size of a file that is read; images are not read

_REMEDY = (
    "Expected a development kit tree: the directory with Annotations/ and ImageSets/, or an archive of it (.tar, "
    ".tar.gz, .tar.xz, .tar.bz2, .zip). Ground truth in COCO's JSON becomes a tree with `vocboard convert "
    "coco-ground-truth`."
)


def prefixes(edition: str) -> tuple[str, ...]:
    """Return the places of an edition's folder in a tree, from the one that is looked for first."""
    return f"{edition}/", f"VOCdevkit/{edition}/", ""


def folder_of(tree: Path, edition: str) -> Path:
    """Return the folder of an edition in a directory; the directory itself if no place has image sets."""
    return next((each for prefix in prefixes(edition) if ((each := tree / prefix) / "ImageSets").is_dir()), tree)


def path_in_folder(member: str, edition: str) -> str:
    """Return the path of an archive's member below the edition's folder; of another edition's, the whole path."""
    return next(member.removeprefix(prefix) for prefix in prefixes(edition) if member.startswith(prefix))


class Tree:
    """One tree of one edition."""

    def __init__(
        self,
        path: Path,
        edition: str,
        problems: TreeProblems,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        """Take the directory or archive, the edition that its folder is named after, and the collector of problems.

        Args:
            progress: called with the number of files read.
        """
        self._path = path
        self._prefixes = prefixes(edition)
        self._problems = problems
        self._seen: dict[str, None] = {}  # folders of an archive
        self._progress = progress

    @property
    def found(self) -> str:
        """Which folders the tree has, in words; of an archive, once it has been read."""
        folders = [path.relative_to(self._path).as_posix() for path in _folders(self._path)] or list(self._seen)
        return some(sorted(folders), at_most=FOLDERS_LISTED) or "no folder"

    @property
    def places(self) -> str:
        """Describe where the edition's folder is searched."""
        return "at its top, below " + " or below ".join(prefix for prefix in self._prefixes if prefix)

    def read(self, names: Collection[str]) -> dict[str, bytes]:
        """Return the content of the existing files, by name below the edition's folder.

        The first call locates the folder.

        Raises:
            GroundTruthError: the tree cannot be read.
        OSError: a file system error.
        """
        found: dict[str, dict[str, bytes]] = {prefix: {} for prefix in self._prefixes}
        wanted = {prefix + name: (prefix, name) for prefix in self._prefixes for name in names}
        for path, content in self._directory(wanted) if self._path.is_dir() else self._archive(wanted):
            prefix, name = wanted[path]
            found[prefix][name] = content
            if self._progress is not None:
                self._progress(1)
        for prefix in self._prefixes:
            if found[prefix]:
                self._prefixes = (prefix,)
                return found[prefix]
        return {}

    def _directory(self, wanted: Collection[str]) -> Iterator[tuple[str, bytes]]:
        # Without a `Path` and a buffer per file, which take longer than reading ten thousand small files.
        for name in wanted:
            file = os.path.join(self._path, name)
            size = _size_of_file(file)
            if size is not None and self._is_small(name, size):
                with open(file, "rb", buffering=0) as opened:
                    yield name, opened.read()

    def _archive(self, wanted: Collection[str]) -> Iterator[tuple[str, bytes]]:
        def report(problem: Problem) -> None:
            if problem.file in wanted:
                self._problems.add(problem.code, problem.message, problem.file)

        try:
            for member in members(self._path, TREE_LIMITS, report):
                if len(self._seen) < MAX_FOLDERS and (parts := member.name.split("/")[:-1][:FOLDER_DEPTH]):
                    self._seen.setdefault("/".join(parts))
                if member.name in wanted and self._is_small(member.name, member.size):
                    yield member.name, member.read()
        except ArchiveError as error:
            message = error.problem.message.replace(NOT_AN_ARCHIVE.remedy, _REMEDY)
            self._problems.add(error.problem.code, message, error.problem.file)
            self._problems.raise_if_any()

    def _is_small(self, name: str, size: int) -> bool:
        if size > MAXIMUM_BYTES:
            self._problems.add("too_large", f"has {size:,} bytes, more than {MAXIMUM_BYTES // MIB} MiB", name)
        return size <= MAXIMUM_BYTES


def _folders(top: Path) -> Iterator[Path]:
    """The folders of a directory and those in them; none of an archive."""
    if top.is_dir():
        for folder in sorted(path for path in top.iterdir() if path.is_dir())[:FOLDERS_LISTED]:
            yield folder
            yield from sorted(path for path in folder.iterdir() if path.is_dir())[:FOLDERS_LISTED]


def _size_of_file(path: str) -> int | None:
    """Return the bytes of a regular file; None if it does not exist."""
    try:
        status = os.stat(path)
    except (FileNotFoundError, NotADirectoryError, ValueError):  # ValueError: null character in the name
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None
