"""Names that people type: short submission ids, and suggestions for misspelt names."""

import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

from vocboard.client.answers import challenge, submission, understood
from vocboard.client.connection import Connection
from vocboard.client.errors import MisdirectedError, MisuseError
from vocboard.client.paging import items
from vocboard.client.paths import path
from vocboard.client.terminal import printable

NOT_FOUND = 404
MIN_DIGITS = 4
LISTED = 10  # names in a message, at most
_BEGINNING = re.compile(r"[0-9a-f-]+")
_WHOLE_LENGTH = 36


def submission_id(connection: Connection, typed: str) -> str:
    """Return the id of the submission that was typed: whole, or the beginning of one of the user's own.

    Raises:
        MisuseError: it cannot be an id, none of the user's submissions begins like this, or several do.
        ClientError: see `client.errors`.
    """
    beginning = typed.strip().lower()
    if len(beginning) == _WHOLE_LENGTH:
        return beginning
    if len(beginning) < MIN_DIGITS or not _BEGINNING.fullmatch(beginning):
        raise MisuseError(
            f"'{printable(typed)}' is not a submission: give its id, or at least its first {MIN_DIGITS} characters; "
            "`vocboard status` lists yours"
        )
    found = [one.id for one in _own(connection) if one.id.startswith(beginning)]
    if len(found) == 1:
        return str(found[0])
    if not found:
        raise MisuseError(f"none of your submissions begins with {printable(typed)}; `vocboard status` lists them")
    raise MisuseError(f"several submissions begin with {printable(typed)}: {_in_words(found)}")


def all_challenges(connection: Connection) -> list[Any]:
    """Return the challenges that the user may see, as the server describes them."""
    return list(items(connection, "/challenges"))


def wrong_name(connection: Connection, error: MisdirectedError, slug: str, competition: str | None = None) -> Exception:
    """Return the error for a challenge or competition that the server does not know, with the names that it does.

    Args:
        error: what the server answered; it is returned if the names are right, or another phase has the competition.
    """
    if error.status != NOT_FOUND:
        return error
    try:
        answer = connection.get(path("challenges", slug))  # lists leave out unlisted ones
    except MisdirectedError:
        slugs = [understood(challenge, item).slug for item in all_challenges(connection)]
        return MisuseError(f"there is no challenge {printable(slug)} on {connection.address}; {_instead(slug, slugs)}")
    if competition is None:
        return error
    keys = understood(lambda content: [str(each["key"]) for each in content["competitions"]], answer)
    elsewhere = understood(
        lambda content: {str(key) for phase in content.get("phases", ()) for key in phase["competitions"]}, answer
    )
    if competition in keys or competition in elsewhere:
        return error
    return MisuseError(f"{slug} has no competition {printable(competition)}; {_instead(competition, keys)}")


def _own(connection: Connection) -> Iterator[Any]:
    for item in items(connection, "/submissions"):
        yield understood(submission, item)


def _instead(typed: str, known: list[str]) -> str:
    if not known:
        return "it has none"
    close = get_close_matches(typed.lower(), known, n=1)
    guess = f"did you mean {printable(close[0])}? " if close else ""
    return f"{guess}there {'is' if len(known) == 1 else 'are'} {_in_words(known)}"


def _in_words(names: list[str]) -> str:
    shown = ", ".join(map(printable, names[:LISTED]))
    more = len(names) - LISTED
    return f"{shown} and {more} more" if more > 0 else shown
