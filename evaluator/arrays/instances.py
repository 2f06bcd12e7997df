"""Detected instances (boxes or masks) in memory: by class, by image as in torchmetrics, or in one table."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.arrays import problems as kinds
from vocboard.evaluator.arrays.content import Arrays, known_classes
from vocboard.evaluator.arrays.values import Values, as_array, kind_of, length_of
from vocboard.evaluator.problems import Problem, counted, quoted
from vocboard.evaluator.result_files.report import FileReport

_IMAGES, _SCORES, _LABELS = "images", "scores", "labels"


@dataclass(frozen=True, eq=False, slots=True)
class Instances:
    """Detected instances.

    Attributes:
        image: (n,) int32 index into `ImageSet.images`.
        score: (n,) float64, finite.
        shape: shapes, depending on the task.
        classes: (n,) int16 index into the competition's classes; None if all have the same class.
    """

    image: NDArray[np.int32]
    score: NDArray[np.float64]
    shape: Any
    classes: NDArray[np.int16] | None = None


ReadShapes = Callable[[object, NDArray[np.int32] | None, int | None, Arrays, Values], Any]


def read_instances(
    content: object, shape_key: str, read_shapes: ReadShapes, arrays: Arrays
) -> Iterator[tuple[tuple[str, ...], Instances]]:
    """Yield instances of one class or of all classes, with the names of the classes entered.

    Args:
        content: a mapping of classes to mappings with `images`, `scores` and the shapes; or such a mapping for all
            classes, with `labels`; or a mapping of images to, or a sequence in the order of the image set of, mappings
            with `scores`, `labels` and the shapes.
        shape_key: `boxes` or `masks`.
        read_shapes: called with the value at the key, the positions of the images, and the expected number (None if
            these are invalid); returns the shapes, or reports problems and returns None.
        arrays: collects problems.
    """
    everything = arrays.competition.classes
    if isinstance(content, Mapping):
        if _is_table(content, shape_key):
            found = _read(content, shape_key, read_shapes, arrays, arrays.values(), image=None, with_labels=True)
            if found is not None:
                yield everything, found
        elif _is_by_image(content, arrays):
            yield from _by_image(content, shape_key, read_shapes, arrays)
        else:
            for name in known_classes(content, arrays):
                found = _read(
                    content[name], shape_key, read_shapes, arrays, arrays.values(name), image=None, with_labels=False
                )
                if found is not None:
                    yield (name,), found
    elif isinstance(content, Sequence) and not isinstance(content, str | bytes):
        images = arrays.items.images
        if not images.is_known:
            arrays.values().report.add(kinds.ITEMS_NOT_KNOWN)
        elif len(content) != len(images):
            arrays.values().wrong_structure(content, f"one for each of {len(images):,} images of the image set")
        else:
            yield from _by_image(dict(zip(images.listed(), content, strict=True)), shape_key, read_shapes, arrays)
    else:
        arrays.values().wrong_structure(content, f"a mapping of classes, or of images, to {shape_key} and scores")


def is_by_image(content: object, shape_key: str, arrays: Arrays) -> bool:
    """Return whether instances are given image by image, as torchvision and torchmetrics do."""
    if isinstance(content, Mapping):
        return not _is_table(content, shape_key) and _is_by_image(content, arrays)
    return isinstance(content, Sequence)


def check_number(name: str, images: NDArray[np.int32], arrays: Arrays) -> None:
    """Report images in which a class has more instances than the edition allows; `images` is that of each instance."""
    limit = arrays.edition.limits.detections_per_image
    counts = np.bincount(images, minlength=1)
    for image in np.flatnonzero(counts > limit).tolist():
        named = quoted(arrays.items.images.listed()[image])
        kind, count = kinds.TOO_MANY_DETECTIONS, int(counts[image])
        arrays.values(name).report.add(kind, image=named, count=count, limit=limit)


def note_empty_classes(numbers: Mapping[str, int], arrays: Arrays) -> None:
    """Warn of classes that are entered without a result.

    Args:
        numbers: number of results by class.
        arrays: collects the warning.
    """
    empty = [name for name, number in numbers.items() if not number]
    if empty:
        count = counted(len(empty), "class", "classes")
        arrays.values().report.add(kinds.CLASSES_WITHOUT_RESULTS, count=count, names=", ".join(empty))


def _is_table(content: Mapping[object, object], shape_key: str) -> bool:
    return any(key in content for key in (_IMAGES, _SCORES, shape_key))


def _is_by_image(content: Mapping[object, object], arrays: Arrays) -> bool:
    if any(key in arrays.competition.classes for key in content):
        return False
    images = arrays.items.images
    return any(
        (isinstance(value, Mapping) and _LABELS in value) or (images.is_known and key in images)
        for key, value in content.items()
    )


def _by_image(
    content: Mapping[object, object], shape_key: str, read_shapes: ReadShapes, arrays: Arrays
) -> Iterator[tuple[tuple[str, ...], Instances]]:
    """Yield the instances of all images; every class counts as entered.

    All images are read together. Only if that is not possible, each is read on its own, to say what is wrong where.
    """
    classes = arrays.competition.classes
    together = _together(content, shape_key, arrays)
    if together is not None:
        positions, table = together
        values = Values(FileReport(None), arrays.edition.limits)
        found = _read(table, shape_key, read_shapes, arrays, values, image=positions, with_labels=True)
        if found is not None and not values.report.problems():
            yield classes, found
            return
    unknown, problems = [], []
    for key, value in content.items():
        position = arrays.items.images.position(key) if isinstance(key, str) else None
        if position is None:
            unknown.append(key)
            continue
        values = Values(FileReport(arrays.place(key)), arrays.edition.limits)
        found = _read(value, shape_key, read_shapes, arrays, values, image=position, with_labels=True)
        problems += values.report.problems()
        if found is not None:
            yield classes, found
    for problem in _once_each(problems):
        arrays.values().report.note(problem)
    numbers = [key for key in unknown if not isinstance(key, str)]
    if numbers:
        first = next(iter(arrays.items.images.listed()), None)
        example = f", such as {quoted(first)}" if first else ""
        arrays.values().report.add(kinds.NUMBERS_AS_IMAGES, name="the mapping", example=example)
    arrays.values().unknown_images([key for key in unknown if isinstance(key, str)], arrays.items)


def _together(
    content: Mapping[object, object], shape_key: str, arrays: Arrays
) -> tuple[NDArray[np.int32], dict[str, NDArray[Any]]] | None:
    """Return the rows of all images as one table with (n,) positions of images; None if they do not fit together."""
    names = (_SCORES, _LABELS, shape_key)
    positions: list[int] = []
    columns: dict[str, list[NDArray[Any]]] = {name: [] for name in names}
    for key, value in content.items():
        position = arrays.items.images.position(key) if isinstance(key, str) else None
        if position is None or not isinstance(value, Mapping) or not all(name in value for name in names):
            return None
        try:
            row = [as_array(value[name]) for name in names]
        except Exception:  # reported where the images are read one by one
            return None
        if not any(array.size for array in row):
            continue
        is_masked = any(isinstance(value[name], np.ma.MaskedArray) for name in names)
        if is_masked or [array.ndim for array in row] != [1, 1, 2] or len({len(array) for array in row}) > 1:
            return None
        positions.append(position)
        for name, array in zip(names, row, strict=True):
            columns[name].append(array)
    if not positions or len({array.dtype.kind for array in columns[_LABELS]}) > 1:
        return None
    if len({array.shape[1] for array in columns[shape_key]}) > 1:
        return None
    lengths = [len(array) for array in columns[_SCORES]]
    table = {name: np.concatenate(arrays_of) for name, arrays_of in columns.items()}
    return np.repeat(np.array(positions, dtype=np.int32), lengths), table


def _once_each(problems: Sequence[Problem]) -> Iterator[Problem]:
    """Yield the first problem of each kind, with the number of further images that have it."""
    by_code: dict[str, list[Problem]] = {}
    for problem in problems:
        by_code.setdefault(problem.code, []).append(problem)
    for first, *others in by_code.values():
        images = len({each.file for each in others} - {first.file})
        more = f" The same kind of problem is in {counted(images, 'further image')}." if images else ""
        yield replace(first, message=first.message + more)


def _read(
    content: object,
    shape_key: str,
    read_shapes: ReadShapes,
    arrays: Arrays,
    values: Values,
    *,
    image: int | NDArray[np.int32] | None,
    with_labels: bool,
) -> Instances | None:
    needed = [*([_IMAGES] if image is None else []), _SCORES, *([_LABELS] if with_labels else []), shape_key]
    if not isinstance(content, Mapping):
        values.wrong_structure(content, f"a mapping with {', '.join(map(repr, needed))}")
        return None
    if not values.has_keys(content, *needed):
        return None
    score = values.scores(content[_SCORES], (None,), arrays.competition.rules.confidence_range)
    length = length_of(content[_SCORES])
    if image is None:
        images = values.images(content[_IMAGES], arrays.items, length)
    else:
        images = None if length is None else np.broadcast_to(np.asarray(image, dtype=np.int32), length)
    classes = _classes(content[_LABELS], arrays, values, length) if with_labels else None
    shape = read_shapes(content[shape_key], images, length, arrays, values)
    if score is None or images is None or shape is None or (with_labels and classes is None):
        return None
    return Instances(images, score, shape, classes)


def _classes(value: object, arrays: Arrays, values: Values, length: int | None) -> NDArray[np.int16] | None:
    """Return (n,) class indices of labels: names, or numbers that start at `first_label`."""
    names = arrays.competition.classes
    if length == 0:
        return np.empty(0, dtype=np.int16)
    if kind_of(value) in "UO":
        texts = values.texts(value, _LABELS, length)
        if texts is None:
            return None
        index = {name: place for place, name in enumerate(names)}
        found = np.array([index.get(text, -1) for text in texts], dtype=np.int64)
        given, expected = np.array(texts, dtype=object), f"classes are {', '.join(names)}"
    else:
        integers = values.integers(value, _LABELS, (length,))
        if integers is None:
            return None
        first, last = arrays.first_label, arrays.first_label + len(names) - 1
        found, given = integers - first, integers
        expected = f"{first} is {names[0]}, {last} is {names[-1]}; first_label says where labels begin"
    wrong = (found < 0) | (found >= len(names))
    is_not_class = "is not a class" if np.count_nonzero(wrong) == 1 else "are not classes"
    kind = kinds.UNKNOWN_LABEL
    if not values.none_wrong(wrong, given, kind, _LABELS, "label", expected=expected, is_not_class=is_not_class):
        return None
    return found.astype(np.int16)
