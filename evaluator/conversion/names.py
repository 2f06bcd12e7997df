"""Finds images and categories by the names and numbers that other tools give them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from vocboard.evaluator.conversion.problems import ProblemCollector
from vocboard.evaluator.problems import Severity, quoted
from vocboard.evaluator.result_files.names import SYNONYMS

Id = int | str
NamesById = Mapping[int, str] | Mapping[str, str] | Mapping[Id, str]  # keys of a Mapping are invariant

_IMAGE_SUFFIX = re.compile(r"\.(?:jpe?g|png|bmp|gif|tiff?|webp|txt|json|npy)$", re.IGNORECASE)


def file_stem(name: str) -> str:
    """Return an image's identifier from its path or file name.

    >>> file_stem("images/val/2008_000001.jpg"), file_stem("000012")
    ('2008_000001', '000012')
    """
    return _IMAGE_SUFFIX.sub("", PurePosixPath(name.replace("\\", "/")).name)


def number_of(image: str) -> int | None:
    """Return the number that converters to COCO give an image: all digits of its name.

    >>> number_of("000012"), number_of("2008_000001"), number_of("street")
    (12, 2008000001, None)
    """
    digits = "".join(re.findall(r"\d+", image))
    return int(digits) if digits and digits.isascii() else None


def by_text(names: NamesById) -> dict[str, str]:
    """Return names by the texts of their ids: a file's 12 and "12" are the same."""
    return {str(key): name for key, name in names.items()}


def image_numbers(images: Sequence[str]) -> dict[str, int]:
    """Return the numbers of images in COCO's JSON: the digits of their names, or their positions from 1 on.

    >>> image_numbers(["000012", "000007"]), image_numbers(["a1", "b1"])
    ({'000012': 12, '000007': 7}, {'a1': 1, 'b1': 2})
    """
    numbers = {image: number for image in images if (number := number_of(image)) is not None}
    if len(numbers) == len(set(numbers.values())) == len(images):
        return numbers
    return {image: place for place, image in enumerate(images, start=1)}


class ImageNames:
    """Finds the image of an id or file name."""

    def __init__(self, images: Sequence[str], listed: NamesById | None = None) -> None:
        """Take the image set, and image names by id if a file lists them."""
        self.images = tuple(images)
        self._known = dict.fromkeys(images)
        self._listed = None if listed is None else by_text(listed)
        self._by_number: dict[int, str | None] = {}
        for image in images:
            number = number_of(image)
            if number is not None:
                self._by_number[number] = None if number in self._by_number else image

    def find(self, given: object) -> str | None:
        """Return the image's identifier; None if it is not in the image set, or if several images have the number."""
        if self._listed is not None:
            name = self._listed.get(str(given))
            if name is not None:
                return self._find(name)
        return self._find(given)

    def is_ambiguous(self, given: object) -> bool:
        """Return whether several images have the number."""
        number = _whole_number(given)
        return number is not None and number in self._by_number and self._by_number[number] is None

    def _find(self, given: object) -> str | None:
        if isinstance(given, str):
            if given in self._known:
                return given
            stem = file_stem(given)
            if stem in self._known:
                return stem
        number = _whole_number(given)
        return None if number is None else self._by_number.get(number)


@dataclass(frozen=True, slots=True)
class CategoryNames:
    """Finds the class of a category's number or name.

    Attributes:
        classes: the edition's classes in their order.
        by_id: names by number, if a file lists them; otherwise numbers are those of the edition's classes.
        first: number of the edition's first class, if no file lists names.
    """

    classes: tuple[str, ...]
    by_id: Mapping[str, str] | None = None
    first: int = 1

    def find(self, given: object) -> str | None:
        """Return the class; None if the edition does not have it."""
        if self.by_id is not None and str(given) in self.by_id:
            return self.class_of(self.by_id[str(given)])
        number = _whole_number(given)
        if number is not None:
            index = number - self.first
            return self.classes[index] if self.by_id is None and 0 <= index < len(self.classes) else None
        return self.class_of(given) if isinstance(given, str) else None

    def class_of(self, name: str) -> str | None:
        """Return the class of a name in any case, or of another data set's name for it."""
        if name in self.classes:
            return name
        plain = re.sub(r"[^a-z0-9]", "", name.lower())
        meant = SYNONYMS.get(plain, plain)
        return next((each for each in self.classes if re.sub(r"[^a-z0-9]", "", each.lower()) == meant), None)

    def called(self, given: object) -> str:
        """Return a category's name for messages."""
        name = None if self.by_id is None else self.by_id.get(str(given))
        return f"{given} {name!r}" if name is not None else quoted(str(given)) if isinstance(given, str) else str(given)

    def covered(self) -> tuple[str, ...]:
        """Return the classes among the listed categories; none if no file lists categories."""
        known = {self.class_of(name) for name in (self.by_id or {}).values()}
        return tuple(name for name in self.classes if name in known)


def report_unknown_image(given: object, names: ImageNames, problems: ProblemCollector, file: str, line: int) -> None:
    """Add a problem: an image is not in the image set, or its number is that of several images."""
    if names.is_ambiguous(given):
        problems.add(
            "ambiguous_image",
            "a number that more than one image of the image set has",
            "Map ids to images with --images FILE.",
            file=file, line=line, value=given, noun="detection",
        )  # fmt: skip
    else:
        example = names.images[0] if names.images else "none"
        problems.add(
            "unknown_image",
            f"images that are not in the image set, whose first is {example}",
            "Check that the results are for this data set and image set (--image-set). If they are, map their ids to "
            "images with --images FILE.",
            file=file, line=line, value=given, noun="detection",
        )  # fmt: skip


def report_unknown_category(
    given: object, names: CategoryNames, problems: ProblemCollector, file: str, line: int, *, drop: bool
) -> None:
    """Add a problem: the edition has no such class. It is a warning if such detections are left out."""
    last = names.first + len(names.classes) - 1
    expected = f"{names.first} to {last} in the edition's order" if names.by_id is None else "a class of the edition"
    problems.add(
        "left_out_category" if drop else "unknown_category",
        f"categories that are not {expected}",
        "Their detections are left out." if drop else
        "Name the categories with --categories FILE; leave out those that the edition lacks with --drop-unmatched.",
        file=file, line=line, value=names.called(given), noun="detection",
        severity=Severity.WARNING if drop else Severity.ERROR,
    )  # fmt: skip


def _whole_number(given: object) -> int | None:
    if isinstance(given, bool):
        return None
    if isinstance(given, int):
        return given
    if isinstance(given, str) and given.isascii() and given.isdecimal():
        return int(given)
    return None
