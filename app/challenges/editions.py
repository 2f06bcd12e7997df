"""The edition of a challenge: a built-in one, or a custom edition file that is stored with the challenge."""

from contextlib import suppress
from functools import lru_cache

from vocboard.app.challenges.models import Challenge
from vocboard.app.forms import FieldChecks
from vocboard.evaluator import editions
from vocboard.evaluator.editions import Edition
from vocboard.evaluator.editions.column_names import reserved_name

OWN_FILE = "edition file"  # used in messages; the uploaded file's name is not stored
KEPT = 32  # cached: the content never changes


def edition_of(challenge: Challenge) -> Edition:
    """Return a challenge's edition."""
    return edition_from(challenge.edition, challenge.edition_file)


def can_be_read(challenge: Challenge) -> bool:
    """Whether this server has what a challenge's edition needs; an extension may be missing, or broken."""
    try:
        edition_of(challenge)
    except (editions.UnknownEditionError, editions.EditionFileError):
        return False
    return True


def offered_editions() -> list[Edition]:
    """Return the editions that challenges can have without a file."""
    found = []
    for name in editions.names():
        with suppress(editions.EditionFileError):  # of an extension that is broken
            found.append(editions.load(name))
    return found


def edition_from(name: str, file: str | None) -> Edition:
    """Return the edition of a challenge's row.

    Args:
        file: content of a custom edition file; None for a built-in edition.

    Raises:
        UnknownEditionError, EditionFileError: this version of vocboard no longer supports the row's edition.
    """
    return editions.load(name) if file is None else own_edition(file)


@lru_cache(maxsize=KEPT)
def own_edition(file: str) -> Edition:
    """Return the edition of a custom edition file.

    Raises:
        EditionFileError: the file is invalid; lists all errors.
    """
    return editions.read_text(file, OWN_FILE)


def source_of(challenge: Challenge) -> str:
    """Return the edition file of a challenge, for offline validation."""
    return challenge.edition_file or editions.source(challenge.edition)


def chosen_edition(checks: FieldChecks, name: str, file: str | None) -> Edition | None:
    """Return the built-in edition of this name, or the edition of a custom file; record errors.

    Args:
        name: name of a built-in edition; with a file, empty or the name in the file.
        file: content of an edition file; None for a built-in edition.
    """
    if file is None:
        try:
            return editions.load(name)
        except editions.UnknownEditionError as error:
            checks.fail("edition", str(error))
            return None
    try:
        edition = own_edition(file)
    except editions.EditionFileError as error:
        checks.fail("edition_file", str(error))
        return None
    if wrong := reserved_name(edition):
        checks.fail("edition_file", wrong)
    if edition.name.lower() in map(str.lower, editions.names()):
        checks.fail("edition_file", f"{edition.name} is a built-in edition. Choose another name.")
    if name and name != edition.name:
        checks.fail("edition", f"The edition file names it {edition.name!r}. Leave this empty.")
    return edition
