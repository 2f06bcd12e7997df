"""Example action classifier: a linear score of the person's box and its surroundings for each action."""

from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.conversion.result_archive import Files
from vocboard.evaluator.editions import Competition, Edition
from vocboard.evaluator.examples.features import Features
from vocboard.evaluator.examples.material import ExampleError, Material, record_boxes
from vocboard.evaluator.image_sets import ImageSet, ImageSets
from vocboard.evaluator.tasks.classification.example import files_of, learn


def example_results(material: Material, competition: Competition) -> Files:
    """Learn which actions a person performs from the person's box and its surroundings, and return result files."""
    learnt = learn(material, _of_people(material, material.train_edition, material.train.image_sets), competition)
    public = material.test_set
    people = [f"{public.images[image]} {number}" for image, number in _persons(public).tolist()]
    return files_of(people, _of_people(material, material.edition, material.test), learnt, competition)


def _of_people(material: Material, edition: Edition, sets: ImageSets) -> Features:
    image_set = next(each for (task, _), each in sets.sets.items() if task is material.task)
    persons, records = _persons(image_set), material.records(edition, sets)
    people: dict[int, list[int]] = defaultdict(list)
    for row, (image, _) in enumerate(persons.tolist()):
        people[image].append(row)
    rows: list[Features] = [np.empty(0, np.float32)] * len(persons)
    for image, grid in material.grids(image_set.images):
        own = people[image]
        boxes = record_boxes(records.get(image_set.images[image]), persons[own, 1].tolist())
        if own:
            box = grid.fractions(boxes)
            around = _grown(box)
            described = np.concatenate([grid.described(box), grid.pooled(around, 2)], axis=1)
            for row, features in zip(own, described, strict=True):
                rows[row] = features
    return np.array(rows)


def _grown(boxes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return boxes of twice the width and height: what a person rides or holds extends beyond the person's box."""
    sides = boxes[:, 2:] - boxes[:, :2]
    return np.concatenate([boxes[:, :2] - sides / 2, boxes[:, 2:] + sides / 2], axis=1)


def _persons(image_set: ImageSet) -> NDArray[np.int32]:
    if image_set.persons is None:
        raise ExampleError("the image set does not say which people are meant")
    return image_set.persons
