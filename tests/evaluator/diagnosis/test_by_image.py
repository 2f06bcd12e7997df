"""Each image counts once among the kinds of results and objects, so that other annotations of it change little."""

import random
from collections.abc import Callable

import numpy as np
import pytest

from tests.evaluator.diagnosis.cases import IMAGES, moved, random_case
from tests.evaluator.reference.detection import Detection, Object
from tests.evaluator.tasks.test_detection import detections_of, truth_of
from vocboard.evaluator.diagnosis.by_image import ByImage
from vocboard.evaluator.diagnosis.summary import summarise
from vocboard.evaluator.editions import Task, load
from vocboard.evaluator.ground_truth import Labels, LabelTruth
from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.results import Confidences, Entry

EDITION = load("VOC2012")
Boxes = dict[str, list[Detection]]
Objects = dict[str, list[Object]]


def of_boxes(found: Boxes, objects: Objects) -> ByImage:
    content = {name: detections_of(rows) for name, rows in found.items()}
    entry = Entry(EDITION.competitions["comp3"], tuple(content), content)
    return summarise(entry, truth_of(objects, EDITION.name), EDITION, ImageSet(tuple(IMAGES)), None).by_image


def distance(one: ByImage, other: ByImage) -> dict[str, float]:
    return {of: sum(abs(one[of][kind] - other[of][kind]) for kind in one[of]) for of in one}


def annotated_otherwise(objects: Objects, image: str, chance: random.Random) -> Objects:
    """Other boxes for the objects of an image, as many of each class."""
    return {
        name: [(where, moved(box, chance) if where == image else box, hard) for where, box, hard in rows]
        for name, rows in objects.items()
    }


@pytest.mark.parametrize("cases", [40, pytest.param(150, marks=pytest.mark.full)])
@pytest.mark.parametrize("spoil", [lambda rows: rows, lambda rows: rows * 30], ids=["plain", "thirty copies"])
def test_other_boxes_in_one_image_change_the_sums_by_at_most_two(
    spoil: Callable[[list[Detection]], list[Detection]], cases: int
) -> None:
    largest = dict.fromkeys(("first_results", "objects"), 0.0)
    for seed in range(cases):
        found, objects = random_case(seed)
        found = {name: spoil(rows) for name, rows in found.items()}
        before = of_boxes(found, objects)
        after = of_boxes(found, annotated_otherwise(objects, "a", random.Random(seed)))
        for of, changed in distance(before, after).items():
            largest[of] = max(largest[of], changed)
            assert changed <= 2 + 1e-9, (seed, of)
            assert sum(before[of].values()) <= len(IMAGES) + 1e-9
    assert min(largest.values()) > 1  # the bound is not far from what happens


def test_kinds_are_those_of_the_definition() -> None:
    box = (10.0, 10.0, 59.0, 59.0)
    near, far, smaller = (10.0, 35.0, 59.0, 84.0), (200.0, 200.0, 249.0, 249.0), (10.0, 10.0, 59.0, 40.0)
    objects: Objects = {
        "aeroplane": [("a", box, False), ("b", box, False), ("d", box, False)],
        "bird": [("c", box, False), ("c", far, False)],
        "car": [("d", far, True), ("d", box, False)],
    }
    found: Boxes = {
        # Right; poor localisation; similar to a bird; the fourth is not among the first three.
        "aeroplane": [("a", 0.9, smaller), ("b", 0.8, near), ("c", 0.7, box), ("c", 0.6, far)],
        # A background, and a duplicate of nothing: another background in an image that has one.
        "bird": [("a", 0.9, far), ("b", 0.8, far)],
        # The first is on a difficult object and does not count.
        "car": [("d", 0.9, far), ("d", 0.8, far)],
    }
    by_image = of_boxes(found, objects)
    assert by_image["first_results"] == {
        "right": 0.5, "location": 0.5, "similar": 1.0, "other": 0.0, "background": 1.0,
    }  # fmt: skip
    # a: found; b: nearly; c: two birds, both hit by results of the class aeroplane; d: missed twice.
    assert by_image["objects"] == {"right": 1.0, "nearly": 2.0, "missed": 1.0}


def test_first_images_show_the_class_a_similar_one_another_one_or_none() -> None:
    names = ("cat", "dog", "car")
    shown = {"cat": [1, -1, -1, -1, 1, 1, 0], "dog": [-1, 1, -1, -1, -1, -1, -1], "car": [-1, -1, 1, -1, -1, -1, -1]}
    items = np.arange(7, dtype=np.int32)
    truth = LabelTruth({name: Labels(items, np.array(shown[name], dtype=np.int8)) for name in names})
    order = {"cat": [1, 6, 2], "dog": [0], "car": [3]}  # the first: similar, difficult, other; similar; none

    def confidences(first: list[int]) -> Confidences:
        return Confidences(items, np.array([-first.index(item) if item in first else -10.0 for item in items]))

    content = {name: confidences(first) for name, first in order.items()}
    entry = Entry(EDITION.competitions["comp1"], names, content)
    assert entry.competition.task is Task.CLASSIFICATION
    found = summarise(entry, truth, EDITION, ImageSet(tuple("abcdefg")), None).by_image
    assert found == {"first_results": {"right": 0.0, "similar": 2.0, "other": 1.0, "none": 1.0}}
