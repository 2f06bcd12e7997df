"""Scores of images or people in memory: a matrix like scikit-learn's, an array per class, or named scores."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.arrays import problems as kinds
from vocboard.evaluator.arrays.content import ArrayReader, Arrays, known_classes
from vocboard.evaluator.arrays.values import Values
from vocboard.evaluator.problems import counted, quoted
from vocboard.evaluator.result_files.fields import MAX_OBJECT_INDEX
from vocboard.evaluator.results import Confidences, Entry


class ConfidenceArrays(ArrayReader):
    """Scores by class.

    Attributes:
        of_people: whether people are scored rather than images.
    """

    of_people = False

    def read(self, content: object, arrays: Arrays) -> Entry | None:
        """Return the scores by class.

        Args:
            content: (n, k) scores of all images (people) and classes, in the order of the image set and of the edition;
                or a mapping of classes to (n,) scores of all images (people), or to mappings with `scores` and
                `images` (and `objects`, the object indices of people).
            arrays: collects problems.
        """
        classes = arrays.competition.classes
        if isinstance(content, Mapping):
            entered = known_classes(content, arrays)
            found = {name: self._read(content[name], arrays, arrays.values(name)) for name in entered}
        else:
            values, number = arrays.values(), self._number(arrays)
            if number is None:
                values.report.add(kinds.ITEMS_NOT_KNOWN)
                return None
            allowed = arrays.competition.rules.confidence_range
            matrix = values.scores(content, (number, len(classes)), allowed, name="the array")
            if matrix is None:
                return None
            item = np.arange(number, dtype=np.int32)
            found = {name: Confidences(item, matrix[:, index].copy()) for index, name in enumerate(classes)}
        valid = {name: each for name, each in found.items() if each is not None}
        return Entry(arrays.competition, tuple(valid), valid) if valid else None

    def _number(self, arrays: Arrays) -> int | None:
        """Return the number of images (people); None if unknown."""
        items = arrays.items
        if self.of_people:
            return None if items.listed_persons is None else len(items.listed_persons)
        return len(items.images) if items.images.is_known else None

    def _read(self, content: object, arrays: Arrays, values: Values) -> Confidences | None:
        allowed, number = arrays.competition.rules.confidence_range, self._number(arrays)
        if not isinstance(content, Mapping):
            if number is None:
                values.report.add(kinds.ITEMS_NOT_KNOWN)
                return None
            score = values.scores(content, (number,), allowed)
            return None if score is None else Confidences(np.arange(number, dtype=np.int32), score)
        needed = ("images", "objects", "scores") if self.of_people else ("images", "scores")
        if not values.has_keys(content, *needed):
            return None
        score = values.scores(content["scores"], (None,), allowed)
        length = None if score is None else len(score)
        item = values.images(content["images"], arrays.items, length)
        if self.of_people:
            item = _people(item, values.integers(content["objects"], "objects", (length,)), arrays, values)
        if score is None or item is None:
            return None
        self._check(item, number, arrays, values)
        return Confidences(item, score)

    def _check(self, item: NDArray[np.int32], number: int | None, arrays: Arrays, values: Values) -> None:
        """Report repeated items, and those without a score."""
        _, first, of_item = np.unique(item, return_index=True, return_inverse=True)
        repeated = first[of_item] != np.arange(len(item))
        count = int(np.count_nonzero(repeated))
        if count:
            place = int(np.argmax(repeated))
            noun = (
                counted(count, "person has", "people have")
                if self.of_people
                else counted(count, "image has", "images have")
            )
            values.report.add(kinds.REPEATED_ITEMS, count=noun, item=self._named(int(item[place]), arrays), first=place)
        if not len(item):
            values.report.add(kinds.EMPTY)
        elif number is not None:
            missing = np.flatnonzero(np.bincount(item, minlength=number) == 0)
            if len(missing):
                count_missing = (
                    counted(len(missing), "person", "people") if self.of_people else counted(len(missing), "image")
                )
                has, rank = ("has", "ranks") if len(missing) == 1 else ("have", "rank")
                named = self._named(int(missing[0]), arrays)
                values.report.add(
                    kinds.ITEMS_WITHOUT_SCORE, count=count_missing, all=number, has=has, item=named, rank=rank
                )

    def _named(self, item: int, arrays: Arrays) -> str:
        if not self.of_people:
            return quoted(arrays.items.images.listed()[item])
        image, index = arrays.items.name_of(item)
        return f"object {index} of {quoted(image)}"


def _people(
    image: NDArray[np.int32] | None, index: NDArray[np.int64] | None, arrays: Arrays, values: Values
) -> NDArray[np.int32] | None:
    """Return (n,) positions of people by image and object index."""
    if image is None or index is None:
        return None
    wrong = (index < 1) | (index > MAX_OBJECT_INDEX)
    if not values.none_wrong(wrong, index, kinds.BAD_OBJECT_INDEX, "objects", "index/indices"):
        return None
    keys = list(zip(image.tolist(), index.tolist(), strict=True))
    positions = arrays.items.persons.positions(keys)
    if positions is None:
        unknown = [place for place, key in enumerate(keys) if key not in arrays.items.persons]
        first = unknown[0]
        named = quoted(arrays.items.images.listed()[keys[first][0]])
        count = counted(len(unknown), "person is", "people are")
        values.report.add(kinds.UNKNOWN_PEOPLE, count=count, object=keys[first][1], image=named, first=first)
    return positions
