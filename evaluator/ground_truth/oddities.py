"""Doubtful content of a tree that can be used for scoring: an organiser says whether it is intentional.

Each is told once, with counts and a few places: a class whose name is misspelt, a box beyond its image, a class of
which there is nothing to find.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches

import numpy as np

from vocboard.evaluator.annotations import AnnotatedObject, Box
from vocboard.evaluator.editions import Edition
from vocboard.evaluator.ground_truth.ground_truth import GroundTruth
from vocboard.evaluator.ground_truth.statistics import statistics
from vocboard.evaluator.image_sets import Key
from vocboard.evaluator.problems.problem import counted, quoted
from vocboard.evaluator.problems.trees import TreeProblems, some
from vocboard.evaluator.tasks.image_set_files import Listed
from vocboard.evaluator.tasks.material import Material
from vocboard.evaluator.tasks.segmentation.truth import SegmentationTruth

CLASSES_LISTED = 30
PLACES_LISTED = 5
SLACK = 0.5  # pixels beyond the image: real kits have boxes with fractions


def warn_of_annotations(material: Material) -> None:
    """Warn of objects and parts that are of no class of the edition, and of boxes that reach beyond their image."""
    edition = material.edition
    _warn_of_names("unknown_class", "class", edition.classes, _names(material), material.problems)
    if edition.parts:
        _warn_of_names("unknown_part", "part", edition.parts, _part_names(material), material.problems)
    outside = [
        f"{image}: {_written(box)} in {annotation.size[0]} x {annotation.size[1]}"
        for image, annotation in material.annotations.items()
        if annotation.size is not None
        for box in _boxes(annotation.objects, edition)
        if _is_outside(box, annotation.size)
    ]
    if outside:
        images = len({place.partition(":")[0] for place in outside})
        material.problems.warn(
            "box_outside",
            f"{counted(len(outside), 'box', 'boxes')} in {counted(images, 'image')} "
            f"{'reaches' if len(outside) == 1 else 'reach'} beyond the image, expected 1 to its width and height: "
            f"{some(outside, PLACES_LISTED)}.",
        )


def warn_of_classes_without_positives(truth: GroundTruth, edition: Edition, problems: TreeProblems) -> None:
    """Warn of classes of which a task has nothing to find."""
    counts: dict[tuple[str, str], dict[str, int]] = {
        (one.task.value, one.image_set): {
            name: numbers.images if numbers.objects is None else numbers.objects
            for name, numbers in one.classes.items()
        }
        for one in statistics(truth, edition)
    }
    for (task, image_set), secret in truth.truths.items():
        if found := secret.class_counts(edition):
            counts[task.value, image_set] = {name: number.positives for name, number in found.items()}
    for (task_name, image_set), of_classes in counts.items():
        if without := [name for name, positives in of_classes.items() if not positives]:
            problems.warn(
                "class_without_positives",
                f"{task_name} on {image_set}: {counted(len(without), 'class', 'classes')} of {len(of_classes)} without "
                f"positives: {some(without, CLASSES_LISTED)}. There is nothing to find, so "
                f"{'its score means' if len(without) == 1 else 'their scores mean'} nothing.",
            )


def warn_of_other_classes_in_masks(listed: Mapping[Key, Listed], truth: GroundTruth, material: Material) -> None:
    """Warn of images whose boxes and label maps show other classes: a truck in one may be a van in the other.

    Difficult objects are left out, because label maps may have them as void, and so are images without annotation.
    """
    names, places = ("background", *material.edition.classes), defaultdict[tuple[str, str], list[str]](list)
    seen: set[str] = set()
    for key, items in listed.items():
        maps = truth.truths.get(key)
        if not isinstance(maps, SegmentationTruth) or len(maps) != len(items.images):
            continue
        for index, image in enumerate(items.images):
            if image in seen or image not in material.annotations:
                continue
            seen.add(image)
            masked = {names[label] for label in np.unique(maps.runs(index).label).tolist() if 0 < label < len(names)}
            objects = [item for item in material.objects(image) if item.name in names]
            for name in sorted(masked - {item.name for item in objects}):
                places[name, "in label maps, but not among the boxes"].append(image)
            for name in sorted({item.name for item in objects if not item.difficult} - masked):
                places[name, "among the boxes, but not in label maps"].append(image)
    if places:
        said = (
            f"{quoted(name)} is {where} of {counted(len(images), 'image')} ({some(images, PLACES_LISTED)})"
            for (name, where), images in places.items()
        )
        material.problems.warn(
            "boxes_and_masks_differ", f"Boxes and label maps show other classes: {some(said, CLASSES_LISTED)}."
        )


def count_truncated(images: Iterable[str], material: Material) -> dict[str, int]:
    """Return how many objects of each class are cut off; as in the documents' tables, difficult ones do not count."""
    counts: Counter[str] = Counter(
        item.name for image in images for item in material.objects(image) if item.truncated and not item.difficult
    )
    return {name: counts[name] for name in material.edition.classes}


def _warn_of_names(
    code: str, kind: str, known: tuple[str, ...], found: Iterable[tuple[str, str]], problems: TreeProblems
) -> None:
    """Warn of each name that the edition does not have.

    Args:
        found: names, each with its image.
    """
    images: dict[str, list[str]] = {}
    for name, image in found:
        if name not in known:
            images.setdefault(name, []).append(image)
    for name, places in sorted(images.items()):
        distinct = list(dict.fromkeys(places))
        message = (
            f"{quoted(name)} is not a {kind} of the edition: {counted(len(places), 'object')} in "
            f"{counted(len(distinct), 'image')} will be left out ({some(distinct, PLACES_LISTED)})."
        )
        if meant := _meant(name, known):
            message += f" Did you mean {quoted(meant)}?"
        problems.warn(code, f"{message} Expected: {some(known, CLASSES_LISTED)}.")


def _meant(name: str, known: tuple[str, ...]) -> str | None:
    """The known name that is most like one.

    >>> _meant("Plum", ("pear", "plum"))
    'plum'
    """
    by_folded = {one.casefold(): one for one in known}
    close = get_close_matches(name.casefold(), by_folded, n=1)
    return by_folded[close[0]] if close else None


def _names(material: Material) -> Iterator[tuple[str, str]]:
    for image, annotation in material.annotations.items():
        for item in annotation.objects:
            yield item.name, image


def _part_names(material: Material) -> Iterator[tuple[str, str]]:
    for image, annotation in material.annotations.items():
        for item in annotation.objects:
            for part in item.parts:
                yield part.name, image


def _boxes(objects: Iterable[AnnotatedObject], edition: Edition) -> Iterator[Box]:
    for item in objects:
        if item.name in edition.classes:
            yield item.box
            yield from (part.box for part in item.parts)


def _is_outside(box: Box, size: tuple[int, int]) -> bool:
    left, top, right, bottom = box
    return min(left, top) < 1 - SLACK or right > size[0] + SLACK or bottom > size[1] + SLACK


def _written(box: Box) -> str:
    return "{:g}, {:g} to {:g}, {:g}".format(*box)
