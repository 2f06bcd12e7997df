"""The editions that come with vocboard, and editions from files of one's own."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from evaluator.editions.lines import line_index, parse
from evaluator.editions.mistakes import EditionFileError, Mistake, Mistakes
from evaluator.editions.model import Edition
from evaluator.editions.schema import edition_in
from evaluator.editions.tables import Table

_DIRECTORY = Path(__file__).parent


class UnknownEditionError(LookupError):
    """There is no edition of that name; the message lists those there are."""


@cache
def names() -> tuple[str, ...]:
    """Names of the editions that come with vocboard: those of VOC from the oldest on, then the others."""
    return tuple(edition.name for edition in sorted(_all().values(), key=lambda edition: edition.title))


def load(name: str) -> Edition:
    """Return the edition called `name`, such as `VOC2007`; upper and lower case are the same.

    Raises:
        UnknownEditionError: there is none of that name.
        EditionFileError: its file is malformed.
    """
    edition = _all().get(name.lower())
    if edition is None:
        raise UnknownEditionError(f"There is no edition {name!r}; there are {', '.join(names())}.")
    return edition


def source(name: str) -> str:
    """Return the edition file of the edition called `name`.

    Raises:
        UnknownEditionError: there is none of that name.
    """
    edition = load(name)
    return (_DIRECTORY / f"{edition.name.lower()}.toml").read_text(encoding="utf-8")


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
    mistakes = Mistakes(file, line_index(text) if (content := parse(text, file)) else {})
    edition = edition_in(Table(mistakes, "", content))
    mistakes.raise_if_any()
    return edition


@cache
def _all() -> Mapping[str, Edition]:
    return {path.stem: read(path) for path in _DIRECTORY.glob("*.toml")}
