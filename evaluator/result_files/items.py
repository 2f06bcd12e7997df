"""Lookup of a task's test items: images by identifier, people by image and object index."""

import difflib
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.names import Task
from vocboard.evaluator.problems import counted, quoted
from vocboard.evaluator.problems.identifiers import UnknownImages

_Key = TypeVar("_Key", bound=Hashable)

_SIMILAR = 0.8  # minimum similarity (0 to 1) of suggested identifiers
_MAX_COMPARED_LENGTH = 60  # characters
_MAX_COMPARED = 20  # identifiers of an upload: each takes some 50 ms in a test set of 10,000 images
_SUFFIXES = (".jpg", ".jpeg", ".png", ".xml")
_DIVIDERS = re.compile(r"[/\\]")
_DIGIT_OR_LETTER = re.compile(r"[0-9]|[^\W_]")
_ENDING = re.compile(r"[_.-][A-Za-z_]{1,20}$")  # such as `_mask` of label maps
_NEITHER = re.compile(r"[\W_]")


class Index(Generic[_Key]):
    """Positions of keys in a list or, without a list, in order of appearance."""

    def __init__(self, keys: Sequence[_Key] | None):
        self.is_known = keys is not None
        self._keys = keys or ()

    @cached_property
    def _positions(self) -> dict[_Key, int]:
        """Created on first use, because large files do not need it."""
        return {key: position for position, key in enumerate(self._keys)}

    def __len__(self) -> int:
        return len(self._keys) if self.is_known else len(self._positions)

    def __contains__(self, key: object) -> bool:
        return key in self._positions

    def listed(self) -> list[_Key]:
        """All keys, by position."""
        return list(self._keys if self.is_known else self._positions)

    def position(self, key: _Key) -> int | None:
        """Return the position of a key; None if it is not in the list."""
        if self.is_known:
            return self._positions.get(key)
        return self._positions.setdefault(key, len(self._positions))

    def positions(self, keys: Iterable[_Key]) -> NDArray[np.int32] | None:
        """Return (n,) positions of keys; None if any is not in the list."""
        found = list(map(self._positions.get if self.is_known else self.position, keys))
        return None if None in found else np.array(found, dtype=np.int32)


class Items:
    """An image set with its indices, built once for all files of a task.

    Attributes:
        image_set: None if unknown.
        images: index of the images by identifier.
        sizes: (n, 2) int32 width and height by image position; None if unknown.
        unknown: identifiers in the upload that are not in the image set.
    """

    def __init__(
        self,
        task: Task,
        image_set: ImageSet | None,
        others: Mapping[Task, ImageSet] | None = None,
        other_sets: Mapping[str, ImageSet] | None = None,
    ):
        """Take the image set (None if unknown), those of other tasks, and the task's other test sets by name."""
        self.task = task
        self.image_set = image_set
        self._others = others or {}
        self._other_sets = other_sets or {}
        self.images = Index[str](None if image_set is None else image_set.images)
        self.sizes = None if image_set is None else image_set.sizes
        self.unknown = UnknownImages()
        self._compared = 0

    @classmethod
    def among(cls, task: Task, name: str, known: Mapping[tuple[Task, str], ImageSet]) -> Self:
        """Return those of a task's image set, which is unknown if it is not among the known ones."""
        others = {other: found for (other, of_set), found in known.items() if of_set == name and other is not task}
        other_sets = {of_set: found for (other, of_set), found in known.items() if other is task and of_set != name}
        return cls(task, known.get((task, name)), others, other_sets)

    @cached_property
    def persons(self) -> Index[tuple[int, int]]:
        """Index of people by image position and object index, created on first use."""
        listed = self.listed_persons
        return Index(None if listed is None else list(zip(*listed.T.tolist(), strict=True)))

    @property
    def listed_persons(self) -> NDArray[np.int32] | None:
        """(m, 2) image position and object index of people; None if unknown."""
        return None if self.image_set is None else self.image_set.persons

    def size_of(self, image: int) -> tuple[int, int] | None:
        """Return width and height of an image; None if unknown."""
        if self.sizes is None:
            return None
        width, height = self.sizes[image].tolist()
        return width, height

    def name_of(self, person: int) -> tuple[str, int]:
        """Return image identifier and object index of a person."""
        image, index = self.persons.listed()[person]
        return self.images.listed()[image], index

    def described(self) -> str:
        """Describe the test set for messages: number of images, and an example."""
        first = next(iter(self.images.listed()), None)
        return counted(len(self.images), "image") + (f" such as {quoted(first)}" if first else "")

    def hint(self, identifier: str) -> str:
        """Suggest what an unknown identifier may mean, as the end of a sentence."""
        of_others = self.other_set_with(identifier)
        if of_others is not None:
            return f"; it is in {of_others}, which is for other competitions"
        meant = self.with_other_zeros(identifier)
        if meant is not None:
            which = "without its" if len(meant) > len(identifier) else "with"
            return f"; {which} leading zeros it is not {quoted(meant)}"
        meant = self.with_other_punctuation(identifier)
        if meant is not None:
            return f"; the most similar is {quoted(meant)}"
        first = next(iter(self.images.listed()), "")
        if _form(identifier) == _form(first):
            # A typing error and an image of train or val look the same; the latter is far more common.
            return "; it has the form of one, and may belong to another split (train, val) or another year"
        if len(identifier) > _MAX_COMPARED_LENGTH or self._compared >= _MAX_COMPARED:
            return ""
        self._compared += 1
        similar = difflib.get_close_matches(identifier, self.images.listed(), n=1, cutoff=_SIMILAR)
        return f"; the most similar is {quoted(similar[0])}" if similar else ""

    def with_other_zeros(self, identifier: str) -> str | None:
        """Return the image with the same number but other leading zeros; None if there is none in the test set."""
        if not identifier.isdecimal():
            return None
        number = identifier.lstrip("0") or "0"
        return next((one for one in (number.zfill(self._first_length), number) if one in self.images), None)

    def with_other_punctuation(self, identifier: str) -> str | None:
        """Return the image of an identifier in quotation marks, without punctuation, or with an ending (`_mask`)."""
        if identifier.isalnum():
            return self._by_letters.get(identifier)
        plain = identifier.strip("\"'")
        return next((one for one in (plain, _ENDING.sub("", plain)) if one in self.images), None)

    @cached_property
    def _by_letters(self) -> dict[str, str | None]:
        found: dict[str, str | None] = {}
        for image in self.images.listed():
            letters = _NEITHER.sub("", image)
            found[letters] = None if letters in found else image
        return found

    @cached_property
    def _first_length(self) -> int:
        return len(next(iter(self.images.listed()), ""))

    def without_path(self, identifier: str) -> str | None:
        """Return the image of a file name or path; None if it is neither, or not in the test set."""
        name = _DIVIDERS.split(identifier)[-1]
        suffix = next((known for known in _SUFFIXES if name.lower().endswith(known)), "")
        stem = name[: len(name) - len(suffix)]
        return stem if stem != identifier and stem in self.images else None

    def tasks_with(self, identifier: str) -> list[Task]:
        """Return other tasks whose test sets contain an image."""
        return [task for task, images in self._images_of_others.items() if identifier in images]

    def other_set_with(self, identifier: str) -> str | None:
        """Return the name of another test set of the task that contains an image; None if there is none."""
        return next((name for name, images in self._images_of_sets.items() if identifier in images), None)

    @cached_property
    def _images_of_sets(self) -> dict[str, frozenset[str]]:
        return {name: frozenset(image_set.images) for name, image_set in self._other_sets.items()}

    @cached_property
    def _images_of_others(self) -> dict[Task, frozenset[str]]:
        return {task: frozenset(image_set.images) for task, image_set in self._others.items()}

    def listed_in(self, image: int) -> str:
        """Describe the object indices of an image in the test set, as the end of a sentence."""
        found: Sequence[int] = sorted(index for known, index in self.persons.listed() if known == image)
        return f", which lists {', '.join(map(str, found))} there" if found else ", which lists none there"


def _form(identifier: str) -> str:
    """Return the pattern of an identifier, with digits and letters replaced."""
    return _DIGIT_OR_LETTER.sub(lambda found: "0" if found[0].isdigit() else "a", identifier)
