"""Recognises which data set the image identifiers of an upload come from, by their form.

Sources: the image set files of VOC2006 to VOC2012, the file names of COCO 2014 and 2017 and of ILSVRC 2012.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from vocboard.evaluator.problems import quoted

_YEAR = re.compile(r"((?:19|20)[0-9]{2})_[0-9]{6}")  # from VOC2008 on: the year in which the image was first released
_LAST_YEAR = "2012"  # of the editions
_OTHER_FORMS = (
    (re.compile(r"[0-9]{6}"), "VOC2007"),  # VOC2006 has the same form
    (re.compile(r"(?:COCO_[a-z]+[0-9]{4}_)?[0-9]{12}"), "COCO"),
    (re.compile(r"ILSVRC[0-9]{4}_(?:train|val|test)_[0-9]{8}"), "ImageNet"),
)
_MAX_LENGTH = 60  # characters; no identifier of these data sets is longer


def form_of(identifier: str) -> str | None:
    """Return the form of an identifier: a year, or the name of a data set; None if it is not known.

    >>> form_of("2008_000123"), form_of("000123"), form_of("COCO_val2014_000000000042"), form_of("IMG_1")
    ('2008', 'VOC2007', 'COCO', None)
    """
    if len(identifier) > _MAX_LENGTH:
        return None
    if year := _YEAR.fullmatch(identifier):
        return year[1]
    return next((name for pattern, name in _OTHER_FORMS if pattern.fullmatch(identifier)), None)


class UnknownImages:
    """Counts the identifiers that are not in the test set, by their form.

    Attributes:
        number: of identifiers, repeated ones included.
        misspelt: of these, test images with other leading zeros, punctuation or endings.
    """

    def __init__(self) -> None:
        self.number = self.misspelt = 0
        self._forms: Counter[str | None] = Counter()

    def note(self, identifier: str, other_set: str | None = None, *, is_misspelt: bool = False) -> None:
        """Count one identifier; say which other test set has it, or whether it is a test image, written otherwise."""
        self.number += 1
        self.misspelt += is_misspelt
        form = f"images of {other_set}" if other_set else form_of(identifier)
        self._forms[None if is_misspelt else form] += 1

    def add(self, other: "UnknownImages") -> None:
        """Count those of another task, too."""
        self.number += other.number
        self.misspelt += other.misspelt
        self._forms += other._forms

    def looks_like(self, known: Iterable[str]) -> str:
        """Say which images they seem to be, as the end of a sentence; empty if most of them are not recognised.

        Args:
            known: the identifiers of the test set. Those of train and val have the same form.
        """
        forms_of_test_set = {form_of(identifier) for identifier in known}
        named: Counter[str] = Counter()
        years: Counter[str] = Counter()
        for form, number in self._forms.items():
            if form is None:
                continue
            if form in forms_of_test_set:
                named["images of another split (train or val)"] += number
            elif form.isdecimal():
                years[form] += number
            else:
                named[form] += number
        if years:  # an edition also has the images of the years before
            latest = max(years)
            named[f"VOC{latest}" if latest >= _LAST_YEAR else f"VOC{latest} or later"] += years.total()
        if 2 * named.total() < self.number:
            return ""
        return _listed(named)


def example_of(known: Iterable[str]) -> str:
    """Return an identifier of the test set for a message; empty without any."""
    first = next(iter(known), None)
    return "" if first is None else f", such as {quoted(first)}"


def _listed(named: Mapping[str, int]) -> str:
    if len(named) == 1:
        return f"they look like {next(iter(named))}"
    parts = [f"{number:,} look like {name}" for name, number in sorted(named.items(), key=lambda item: -item[1])]
    return " and ".join([", ".join(parts[:-1]), parts[-1]])
