"""Form fields: checked texts and links, instants, numbers, choices; errors are collected and reported together.

Texts have visible characters that do not change the text direction. Sources: Unicode Standard Annex 44,
`Default_Ignorable_Code_Point`; Annex 9, sections 2.1 to 2.4 (directional formatting characters); Technical Standard 39,
section 5.4 (combining marks).
"""

import re
import unicodedata
from collections.abc import Iterable
from datetime import UTC, datetime, tzinfo
from difflib import get_close_matches
from enum import StrEnum
from typing import Annotated, TypeVar
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator
from pydantic_core import PydanticCustomError

from vocboard.app.errors import InvalidInputError

MAX_MARKS = 4  # consecutive combining marks; more would overlap neighbouring lines
_JOINERS = "\u200c\u200d"  # zero-width (non-)joiners, needed in Persian, Hindi and some emoji
_EMOJI_STYLE = "\ufe0f"  # variation selector: shows the preceding symbol as an emoji
_BIDIRECTIONAL = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
# Invisible, although their category is letter, mark or symbol.
_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0e\uffa0\U0001d159\U000e0100-\U000e01ef]"
)
_INVISIBLE_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_MARKS = frozenset({"Mn", "Me"})


def tidied(value: str) -> str:
    """Return text in composed form (NFC), so that equal-looking texts are equal.

    >>> tidied("Rene\\u0301")
    'René'
    """
    return unicodedata.normalize("NFC", value.replace(_EMOJI_STYLE, ""))


def character_error(value: str, *, allowed: str = "") -> str | None:
    """Return an error message about the characters of a text; None if they are allowed.

    Args:
        allowed: allowed control characters, such as line ends.

    >>> character_error("R-CNN 50 %"), character_error("Müller"), character_error("می‌خواهم")
    (None, None, None)
    >>> character_error("abc\\u202edef")
    'Remove the invisible character U+202E (right-to-left override) after “abc”.'
    """
    marks = 0
    for place, character in enumerate(value):
        marks = marks + 1 if unicodedata.category(character) in _MARKS else 0
        if marks > MAX_MARKS:
            return f"Use at most {MAX_MARKS} combining marks on a letter; there are more{_after(value, place - marks)}."
        if character in allowed or is_visible(character):
            continue
        if character in _JOINERS and _joins(value, place):
            continue
        name = unicodedata.name(character, "control character").lower()
        return f"Remove the invisible character U+{ord(character):04X} ({name}){_after(value, place)}."
    return None


def has_words(text: str, words: str) -> bool:
    """Whether a text has these words, and not as a part of others.

    >>> has_words("Submitted by Ada.", "Ada"), has_words("Submitted by Adam.", "Ada")
    (True, False)
    """
    return re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text) is not None


def is_visible(character: str) -> bool:
    """Whether a character is visible or white space, and does not change the text direction."""
    if character in _BIDIRECTIONAL or _BLANK.match(character):
        return False
    return unicodedata.category(character) not in _INVISIBLE_CATEGORIES


def cleaned(name: str) -> str:
    """Remove what `character_error` finds from text that users do not type, such as names of files and browsers.

    >>> cleaned("results\\u202egz.tar\\x00")
    'resultsgz.tar'
    >>> cleaned("e" + 9 * "\\u0301") == "e" + MAX_MARKS * "\\u0301"
    True
    """
    found, marks = [], 0
    for character in filter(is_visible, name):
        marks = marks + 1 if unicodedata.category(character) in _MARKS else 0
        if marks <= MAX_MARKS:
            found.append(character)
    return "".join(found)


def _joins(value: str, place: int) -> bool:
    """Whether the neighbouring characters belong to a script that uses joiners."""
    neighbours = value[place - 1 : place] + value[place + 1 : place + 2]
    return len(neighbours) == 2 and all(
        not one.isascii() and unicodedata.category(one)[0] in "LMS" and is_visible(one) for one in neighbours
    )


def _after(value: str, place: int) -> str:
    before = "".join(filter(is_visible, value[max(0, place - 20) : max(0, place)])).strip()
    return f" after “{before}”" if before else " at the beginning"


class FieldChecks:
    """Collects the errors of one form.

    >>> checks = FieldChecks()
    >>> checks.line("title", "  VOC  2007 ", max_length=20)
    'VOC 2007'
    >>> checks.line("name", " ", max_length=20, required=True)
    ''
    >>> checks.messages
    {'name': 'Required.'}
    """

    def __init__(self) -> None:
        self.messages: dict[str, str] = {}

    def fail(self, field: str, message: str) -> None:
        """Record an error of a field; only the first one is kept."""
        self.messages.setdefault(field, message)

    def line(self, field: str, value: str, *, max_length: int, required: bool = False) -> str:
        """Return a line of text with normalised white space; record an error if it is missing, too long or invalid."""
        return self._check(field, " ".join(tidied(value).split()), max_length, required, allowed="")

    def text(self, field: str, value: str, *, max_length: int, required: bool = False) -> str:
        """Return text of several lines, with `\\n` line ends, or note what is wrong with it."""
        unified = tidied(value).replace("\r\n", "\n").replace("\r", "\n").strip()
        return self._check(field, unified, max_length, required, allowed="\n\t")

    def finish(self) -> None:
        """Raise `InvalidInputError` if there are errors."""
        if self.messages:
            raise InvalidInputError(self.messages)

    def _check(self, field: str, value: str, max_length: int, required: bool, *, allowed: str) -> str:
        if required and not value:
            self.fail(field, "Required.")
        elif len(value) > max_length:
            self.fail(field, f"Use at most {max_length} characters; this has {len(value)}.")
        elif message := character_error(value, allowed=allowed):
            self.fail(field, message)
        return value


def no_such_field(name: str, known: Iterable[str], *, kind: str = "field") -> str:
    """Return the error message for an unknown field, or another kind of name, which names the nearest known one.

    >>> no_such_field("parametres", ["note", "parameters"])
    "There is no such field. Do you mean 'parameters'?"
    """
    near = get_close_matches(name, known, n=1)
    return f"There is no such {kind}." + (f" Do you mean {near[0]!r}?" if near else "")


MAX_LINK_LENGTH = 500
_SCHEMES = frozenset({"http", "https"})


def checked_link(checks: FieldChecks, field: str, value: str) -> str:
    """Return the address of a page elsewhere, or nothing; record an error if it is not an http(s) address.

    >>> checks = FieldChecks()
    >>> checked_link(checks, "paper_url", " https://arxiv.org/abs/1311.2524 ")
    'https://arxiv.org/abs/1311.2524'
    >>> checked_link(checks, "code_url", "javascript:alert(1)")
    'javascript:alert(1)'
    >>> list(checks.messages)
    ['code_url']
    """
    link = checks.line(field, value, max_length=MAX_LINK_LENGTH)
    if link and not is_address(link):
        checks.fail(field, "Enter a whole address that begins with https:// or http://, without spaces.")
    return link


def is_address(link: str) -> bool:
    """Whether a text is an http(s) address that pages can link to."""
    if any(character.isspace() or character in '<>"\\^`{|}' for character in link):
        return False
    try:
        parts = urlsplit(link)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return False
    # What is before an @ looks like the host, and is not.
    return parts.scheme in _SCHEMES and bool(host) and "@" not in parts.netloc


def _in_utc(value: datetime) -> datetime:
    if value.tzinfo is None:
        return value  # the service rejects it, with the field's name
    try:
        return value.astimezone(UTC)
    except OverflowError:  # the service rejects dates far from now
        return value.replace(tzinfo=UTC)


def _filter_in_utc(value: datetime) -> datetime:
    try:
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    except OverflowError:
        raise ValueError("In UTC, this is not between the years 1 and 9999.") from None


def _no_number(value: object) -> object:
    """Refuse texts like `20261201`, which would be seconds since 1970."""
    if isinstance(value, str) and "-" not in value[1:]:
        raise PydanticCustomError("not_a_time", "Write a time as 2026-12-01T18:00:00Z.")
    return value


FilterInstant = Annotated[
    datetime, BeforeValidator(_no_number), AfterValidator(_filter_in_utc)
]  # in a query; without a time zone in UTC
Instant = Annotated[datetime, BeforeValidator(_no_number), AfterValidator(_in_utc)]


MAX_DIGITS = 9  # of whole numbers; the service has the real bounds

Choice = TypeVar("Choice", bound=StrEnum)


def instant(text: str, field: str, wrong: dict[str, str], zone: tzinfo = UTC) -> datetime | None:
    """Return a date and time that was typed; None if there is none."""
    if not text:
        return None
    try:
        return datetime.fromisoformat(text).replace(tzinfo=zone).astimezone(UTC)
    except (ValueError, OverflowError):
        wrong[field] = "Give a date and a time, such as 2026-03-01T12:00."
        return None


def whole(text: str, field: str, wrong: dict[str, str]) -> int:
    """Return a whole number that was typed."""
    stripped = text.strip()
    if stripped.isascii() and stripped.isdigit() and len(stripped) <= MAX_DIGITS:
        return int(stripped)
    wrong[field] = "Give a whole number."
    return 0


def chosen(choices: type[Choice], text: str, field: str, wrong: dict[str, str]) -> Choice:
    """Return what was chosen of several."""
    try:
        return choices(text)
    except ValueError:
        wrong[field] = f"Choose one of these: {', '.join(choices)}."
        return next(iter(choices))


# A spreadsheet takes a cell that begins so for a formula; an apostrophe makes it text. Source: OWASP, CSV injection.
# Some take the full-width forms for the same.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def escape_formula(text: str) -> str:
    """Escape text for a spreadsheet cell, so that it is not interpreted as a formula.

    >>> escape_formula("=1+1"), escape_formula("R-CNN")
    ("'=1+1", 'R-CNN')
    """
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text
