"""The editions that come with vocboard, and editions from files of one's own."""

import re
from functools import cache, partial
from pathlib import Path

from vocboard.evaluator.editions.line_numbers import line_index, parse
from vocboard.evaluator.editions.mistakes import EditionFileError, Mistake, Mistakes
from vocboard.evaluator.editions.schema import edition_in
from vocboard.evaluator.editions.tables import Table
from vocboard.evaluator.rules import Edition

_FILES = {path.stem: path for path in Path(__file__).parent.glob("*.toml")}  # by name in lower case
_NAME = re.compile(r'name = "(.+)"\n')


class UnknownEditionError(LookupError):
    """There is no edition of that name; the message lists those there are."""


@cache
def names() -> tuple[str, ...]:
    """Names of the editions that come with vocboard: those of VOC from the oldest on, then the others."""
    # Only their first lines are looked at: every command tells these names, and few read more than one of the files.
    named = [_NAME.match(path.read_text(encoding="utf-8")) for path in _FILES.values()]
    return tuple(sorted((found[1] for found in named if found), key=lambda name: (not name.startswith("VOC"), name)))


def load(name: str) -> Edition:
    """Return the edition called `name`, such as `VOC2007`; upper and lower case are the same.

    Raises:
        UnknownEditionError: there is none of that name.
        EditionFileError: its file is malformed.
    """
    path = _FILES.get(name.lower())
    if path is None:
        raise UnknownEditionError(f"There is no edition {name!r}; there are {', '.join(names())}.")
    return _kept(path)


def source(name: str) -> str:
    """Return the edition file of the edition called `name`.

    Raises:
        UnknownEditionError: there is none of that name.
    """
    return _FILES[load(name).name.lower()].read_text(encoding="utf-8")


def read(path: Path) -> Edition:
    """Return the edition an edition file describes.

    Raises:
        EditionFileError: the file is not TOML, or not an edition.
        OSError: the file cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        raise EditionFileError(path.name, [Mistake(line, "not a TOML file: This is not UTF-8.")]) from error
    return read_text(text, path.name)


def read_text(text: str, file: str) -> Edition:
    """Return the edition that the text of an edition file describes.

    Args:
        file: what to call it in messages.

    Raises:
        EditionFileError: it is not TOML, or not an edition; with all that is wrong.
    """
    text = text.replace("\r\n", "\n")
    mistakes = Mistakes(file, partial(line_index, text))
    edition = edition_in(Table(mistakes, "", parse(text, file)))
    mistakes.raise_if_any()
    return edition


_kept = cache(read)
