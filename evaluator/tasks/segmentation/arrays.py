"""Segmentations in memory: a label map per image."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import count as counting
from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.arrays import problems as kinds
from vocboard.evaluator.arrays.content import ArrayReader, Arrays
from vocboard.evaluator.arrays.values import Values
from vocboard.evaluator.problems import counted
from vocboard.evaluator.results import Entry, Segmented
from vocboard.evaluator.tasks.segmentation.format import VOID

_NAMED = 3  # how many missing images a message names


class SegmentationArrays(ArrayReader):
    """(height, width) whole numbers for each image: 0 background, 1 to n the classes."""

    def read(self, content: object, arrays: Arrays) -> Entry | None:
        """Pass each valid map to the sink.

        Args:
            content: a mapping of images to maps, or maps in the order of the image set: a sequence, an array, or a
                generator that makes one after the other.
            arrays: collects problems.
        """
        values, given = arrays.values(), []
        if isinstance(content, str | bytes) or not _can_be_iterated(content):
            values.wrong_structure(content, "a mapping of images to label maps, or label maps in a sequence")
            return None
        for key, position, value in _maps(content, arrays, values):
            given.append(position)
            label_map = _checked(value, arrays, arrays.values(key), position)
            if label_map is not None and arrays.segmentation_sink is not None:
                take = arrays.segmentation_sink(arrays.competition, position, label_map)
                if take is not None:
                    take()
        _check_missing(given, arrays, values)
        if values.report.has_errors:
            return None
        seen = Segmented(np.array(sorted(given), dtype=np.int32))
        return Entry(arrays.competition, arrays.declared_classes, seen)


def _can_be_iterated(content: object) -> TypeGuard[Iterable[object]]:
    """Whether something gives one thing after the other; an array of a single number only seems to."""
    try:
        iter(content)  # type: ignore[call-overload]
    except TypeError:
        return False
    return True


def _maps(content: Iterable[object], arrays: Arrays, values: Values) -> Iterator[tuple[object, int, object]]:
    """Yield key, position of the image, and map."""
    images = arrays.items.images
    if isinstance(content, Mapping):
        unknown = [key for key in content if not isinstance(key, str) or images.position(key) is None]
        if any(not isinstance(key, str) for key in unknown):
            values.report.add(kinds.NUMBERS_AS_IMAGES, name="the mapping", example="")
        values.unknown_images([key for key in unknown if isinstance(key, str)], arrays.items)
        for key, value in content.items():
            position = images.position(key) if isinstance(key, str) else None
            if position is not None:
                yield key, position, value
    elif not images.is_known:
        values.report.add(kinds.ITEMS_NOT_KNOWN)
    else:
        for position, value in zip(counting(), content, strict=False):
            if position >= len(images):
                values.wrong_structure(content, f"one label map for each of {len(images):,} images")
                return
            yield images.listed()[position], position, value


def _checked(value: object, arrays: Arrays, values: Values, position: int) -> NDArray[np.uint8] | None:
    label_map = values.integers(value, "the label map", (None, None))
    if label_map is None:
        return None
    size = arrays.items.size_of(position)
    found = label_map.shape[1], label_map.shape[0]
    if size is not None and size != found:
        values.report.add(
            kinds.WRONG_MAP_SIZE,
            name="The label map", found_width=found[0], found_height=found[1], width=size[0], height=size[1],
        )  # fmt: skip
        return None
    largest = len(arrays.competition.classes)
    wrong = label_map[(label_map < 0) | (label_map > largest)]
    if len(wrong):
        hint = " Results have no void (255): give every pixel a class." if VOID in wrong else ""
        pixels = counted(len(wrong), "pixel is", "pixels are")
        values.report.add(kinds.WRONG_LABELS, count=pixels, found=int(wrong[0]), largest=largest, hint=hint)
        return None
    return label_map.astype(np.uint8)


def _check_missing(given: list[int], arrays: Arrays, values: Values) -> None:
    images = arrays.items.images
    missing = sorted(set(range(len(images))) - set(given)) if images.is_known else []
    if missing:
        named = ", ".join(images.listed()[position] for position in missing[:_NAMED])
        values.report.add(
            kinds.MISSING_MAPS,
            count=counted(len(missing), "image"),
            all=len(images),
            has="has" if len(missing) == 1 else "have",
            first=named + (", …" if len(missing) > _NAMED else ""),
        )
