"""The files of a competition on another server: a directory, a zip file, or its configuration. They are untrusted."""

import posixpath
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar

import yaml

from vocboard.client.errors import MisuseError
from vocboard.client.terminal import printable

MAX_CONFIGURATION_BYTES = 1024**2
MAX_TEXT_BYTES = 2 * 1024**2
MAX_NODES = 100_000  # of a configuration, in which each alias counts as what it stands for


class FileError(Exception):
    """A file of the bundle cannot be read; the message says why, as the end of a sentence."""


class Bundle:
    """The files of a bundle, below the folder of its configuration. Nothing is unpacked.

    Args:
        path: what was given at the command line.
        names: what the configuration may be called.

    Raises:
        MisuseError: there is no configuration.
    """

    def __init__(self, path: Path, names: Sequence[str]) -> None:
        self._zip: zipfile.ZipFile | None = None
        self.configuration = next((name for name in names if (path / name).is_file()), "")
        self._folder = path
        if path.is_file() and zipfile.is_zipfile(path):
            try:
                self._zip = zipfile.ZipFile(path)
            except (zipfile.BadZipFile, OSError) as error:
                raise MisuseError(f"{path} is not a complete zip file: {error}") from error
            found = [name for name in self._zip.namelist() if posixpath.basename(name) in names]
            self.configuration = min(found, key=lambda name: name.count("/"), default="")
        elif path.is_file():
            self._folder, self.configuration = path.parent, path.name
        elif not path.is_dir():
            raise MisuseError(f"{path} does not exist")
        if not self.configuration:
            raise MisuseError(f"{path} has no {names[0]}; give the file itself if it has another name")

    def read(self, name: str, *, limit: int) -> bytes:
        """Return the content of a file that the configuration names.

        Raises:
            FileError: it is not in the bundle, too large or damaged.
        """
        path = posixpath.normpath(posixpath.join(posixpath.dirname(self.configuration), name.replace("\\", "/")))
        if PurePosixPath(path).is_absolute() or path.startswith("../") or path in {"..", "."} or "\0" in path:
            raise FileError("is not in the bundle")
        try:
            content = self._content(path, limit + 1)
        except (KeyError, FileNotFoundError):
            raise FileError("is missing in the bundle") from None
        except (OSError, ValueError, RuntimeError, EOFError, zipfile.BadZipFile, zlib.error) as error:
            raise FileError(f"cannot be read: {error}") from error
        if len(content) > limit:
            raise FileError(f"is larger than {limit // 1024**2} MiB")
        return content

    def _content(self, path: str, size: int) -> bytes:
        if self._zip is not None:
            with self._zip.open(path) as member:
                return member.read(size)
        file = (self._folder / path).resolve()
        if not file.is_relative_to(self._folder.resolve()) or not file.is_file():  # a link out of it, or a pipe
            raise FileNotFoundError(path)
        with file.open("rb") as stream:
            return stream.read(size)

    def text(self, name: str) -> str:
        """Return a text file; see `read`."""
        try:
            return self.read(name, limit=MAX_TEXT_BYTES).decode("utf-8-sig")
        except UnicodeDecodeError:
            raise FileError("is not text in UTF-8") from None

    def values(self) -> Any:
        """Return what the configuration contains.

        Raises:
            MisuseError: it is not YAML, or too large.
        """
        name = posixpath.basename(self.configuration)
        try:
            return loaded(self.read(name, limit=MAX_CONFIGURATION_BYTES).decode("utf-8-sig"))
        except FileError as error:
            raise MisuseError(f"{name} {error}") from error
        except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
            raise MisuseError(f"{name} is not valid YAML: {printable(str(error))}") from error


class _Loader(yaml.SafeLoader):
    """Also knows the texts that CodaLab has written in its dumps."""

    yaml_constructors: ClassVar = {
        **yaml.SafeLoader.yaml_constructors,
        "tag:yaml.org,2002:python/unicode": yaml.SafeLoader.construct_yaml_str,
    }


def loaded(text: str) -> Any:
    """Return what YAML contains. No objects are made of it.

    Raises:
        YAMLError, ValueError, OverflowError, RecursionError: it is not YAML, or its aliases grow beyond all bounds.

    >>> loaded("a: &x {b: 1}\\nc: *x")
    {'a': {'b': 1}, 'c': {'b': 1}}
    """
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        if _count(node, {}) > MAX_NODES:
            raise ValueError("it has too many values")
        return loader.construct_document(node)
    finally:
        loader.dispose()


def _count(node: yaml.Node, known: dict[int, int]) -> int:
    """Count the nodes of a tree, with all that aliases repeat."""
    if id(node) not in known:
        known[id(node)] = MAX_NODES  # of one that contains itself
        known[id(node)] = 1 + sum(_count(inner, known) for inner in _inside(node))
    return known[id(node)]


def _inside(node: yaml.Node) -> Iterator[yaml.Node]:
    for item in node.value if isinstance(node, yaml.CollectionNode) else ():
        yield from item if isinstance(item, tuple) else (item,)
