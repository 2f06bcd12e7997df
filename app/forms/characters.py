"""Which characters the texts that people type may have: those that everyone can see, in the order they are stored in.

Sources: Unicode Standard Annex 44, `Default_Ignorable_Code_Point`; Annex 9, sections 2.1 to 2.4 (directional
formatting characters); Technical Standard 39, section 5.4 (combining marks).
"""

import re
import unicodedata

MOST_MARKS = 4  # combining marks in a row; more are drawn over the neighbouring lines
_JOINERS = "\u200c\u200d"  # zero-width (non-)joiners, which words of Persian or Hindi and some emoji need
_EMOJI_STYLE = "\ufe0f"  # after a symbol: drawn as an emoji; typed by every phone
_BIDIRECTIONAL = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
# Drawn as nothing although their category is that of letters, marks or symbols.
_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0e\uffa0\U0001d159\U000e0100-\U000e01ef]"
)
_INVISIBLE_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_MARKS = frozenset({"Mn", "Me"})


def tidied(value: str) -> str:
    """Return text in its composed form (NFC), so that what looks the same is the same.

    >>> tidied("Rene\\u0301")
    'René'
    """
    return unicodedata.normalize("NFC", value.replace(_EMOJI_STYLE, ""))


def objection(value: str, *, allowed: str = "") -> str | None:
    """Say what is wrong with the characters of a text; None if nothing is.

    Args:
        allowed: control characters that it may have, such as line ends.

    >>> objection("R-CNN 50 %"), objection("Müller"), objection("می‌خواهم")
    (None, None, None)
    >>> objection("abc\\u202edef")
    'Remove the invisible character U+202E (right-to-left override) after “abc”.'
    """
    marks = 0
    for place, character in enumerate(value):
        marks = marks + 1 if unicodedata.category(character) in _MARKS else 0
        if marks > MOST_MARKS:
            return (
                f"Use at most {MOST_MARKS} combining marks on a letter; there are more{_after(value, place - marks)}."
            )
        if character in allowed or is_visible(character):
            continue
        if character in _JOINERS and _joins(value, place):
            continue
        name = unicodedata.name(character, "control character").lower()
        return f"Remove the invisible character U+{ord(character):04X} ({name}){_after(value, place)}."
    return None


def is_visible(character: str) -> bool:
    """Whether a character is drawn, or is white space, and does not change the order in which others are drawn."""
    if character in _BIDIRECTIONAL or _BLANK.match(character):
        return False
    return unicodedata.category(character) not in _INVISIBLE_CATEGORIES


def cleaned(name: str) -> str:
    """Return the name of a file or a browser, which nobody is asked to correct, without what cannot be seen.

    >>> cleaned("results\\u202egz.tar\\x00")
    'resultsgz.tar'
    """
    return "".join(filter(is_visible, name))


def _joins(value: str, place: int) -> bool:
    """Whether the characters on both sides are letters, marks or symbols of a script that joiners are made for."""
    neighbours = value[place - 1 : place] + value[place + 1 : place + 2]
    return len(neighbours) == 2 and all(
        not one.isascii() and unicodedata.category(one)[0] in "LMS" and is_visible(one) for one in neighbours
    )


def _after(value: str, place: int) -> str:
    before = "".join(filter(is_visible, value[max(0, place - 20) : max(0, place)])).strip()
    return f" after “{before}”" if before else " at the beginning"
