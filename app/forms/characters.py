"""Allowed characters in text input: visible characters that do not change the text direction.

Sources: Unicode Standard Annex 44, `Default_Ignorable_Code_Point`; Annex 9, sections 2.1 to 2.4 (directional
formatting characters); Technical Standard 39, section 5.4 (combining marks).
"""

import re
import unicodedata

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


def is_visible(character: str) -> bool:
    """Whether a character is visible or white space, and does not change the text direction."""
    if character in _BIDIRECTIONAL or _BLANK.match(character):
        return False
    return unicodedata.category(character) not in _INVISIBLE_CATEGORIES


def cleaned(name: str) -> str:
    """Remove invisible characters from text that users do not type, such as names of files and browsers.

    >>> cleaned("results\\u202egz.tar\\x00")
    'resultsgz.tar'
    """
    return "".join(filter(is_visible, name))


def _joins(value: str, place: int) -> bool:
    """Whether the neighbouring characters belong to a script that uses joiners."""
    neighbours = value[place - 1 : place] + value[place + 1 : place + 2]
    return len(neighbours) == 2 and all(
        not one.isascii() and unicodedata.category(one)[0] in "LMS" and is_visible(one) for one in neighbours
    )


def _after(value: str, place: int) -> str:
    before = "".join(filter(is_visible, value[max(0, place - 20) : max(0, place)])).strip()
    return f" after “{before}”" if before else " at the beginning"
