"""Loads built-in and custom editions."""

import re
from functools import cache, partial
from pathlib import Path

from vocboard.evaluator import extensions
from vocboard.evaluator.editions.line_numbers import line_index, parse
from vocboard.evaluator.editions.mistakes import EditionFileError, Mistake, Mistakes
from vocboard.evaluator.editions.schema import edition_in
from vocboard.evaluator.editions.tables import Table
from vocboard.evaluator.extensions import Group
from vocboard.evaluator.rules import Edition

_NAME = re.compile(r'name = "(.+)"\n')


def _files() -> dict[str, Path]:
    """Return the edition files, by name in lower case: the built-in ones, then those of extensions."""
    found = {path.stem: path for path in Path(__file__).parent.glob("*.toml")}
    for each in extensions.added(Group.EDITIONS):
        with extensions.reporting(each):
            from importlib.resources import files  # noqa: PLC0415  # takes a fiftieth of the start of a short command

            path = Path(str(files(each.package) / f"{each.name.lower()}.toml"))
            if _NAME.match(path.read_text(encoding="utf-8")) is None or path.stem in found:
                raise ValueError(f"{path.name} needs a first line with its name, which is no built-in edition's")
            found[path.stem] = path
    return found


_FILES = _files()


class UnknownEditionError(LookupError):
    """There is no edition of this name; the message lists the available ones."""


@cache
def names() -> tuple[str, ...]:
    """Return the names of built-in editions: those of VOC by year, then others."""
    # Reads only the first lines, because every command needs the names but few need more than one file.
    named = [_NAME.match(path.read_text(encoding="utf-8")) for path in _FILES.values()]
    return tuple(sorted((found[1] for found in named if found), key=lambda name: (not name.startswith("VOC"), name)))


def load(name: str) -> Edition:
    """Return the built-in edition called `name`, for example `VOC2007`, ignoring case.

    Raises:
        UnknownEditionError: there is no edition of this name.
        EditionFileError: its file is malformed.
    """
    path = _FILES.get(name.lower())
    if path is None:
        raise UnknownEditionError(f"There is no edition {name!r}; there are {', '.join(names())}.")
    return _kept(path)


def source(name: str) -> str:
    """Return the edition file of the edition called `name`.

    Raises:
        UnknownEditionError: there is no edition of this name.
    """
    return _FILES[load(name).name.lower()].read_text(encoding="utf-8")


def read(path: Path) -> Edition:
    """Read an edition file.

    Raises:
        EditionFileError: the file is not TOML, or not a valid edition.
        OSError: the file cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        raise EditionFileError(path.name, [Mistake(line, "not a TOML file: This is not UTF-8.")]) from error
    return read_text(text, path.name)


def read_text(text: str, file: str) -> Edition:
    """Parse the content of an edition file.

    Args:
        file: name of the file for messages.

    Raises:
        EditionFileError: it is not TOML, or not a valid edition; lists all errors.
    """
    text = text.replace("\r\n", "\n")
    mistakes = Mistakes(file, partial(line_index, text))
    edition = edition_in(Table(mistakes, "", parse(text, file)))
    mistakes.raise_if_any()
    return edition


_kept = cache(read)
