"""Example classifier and example action classifier: a linear score of the image, or of the person's box."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.conversion.result_archive import Files
from vocboard.evaluator.editions import Competition, Edition
from vocboard.evaluator.examples.confidences import confidence
from vocboard.evaluator.examples.features import Features
from vocboard.evaluator.examples.material import ExampleError, Material, record_boxes
from vocboard.evaluator.examples.ridge import Ridge, balanced
from vocboard.evaluator.ground_truth import LabelTruth
from vocboard.evaluator.image_sets import ImageSet, ImageSets
from vocboard.evaluator.result_files.names import expected_name

WHOLE = np.array([[0.0, 0, 1, 1]])  # the box of the whole image, in fractions


def classify(material: Material, competition: Competition) -> Files:
    """Learn which classes an image shows, and return the result files of the test images."""
    learnt = _learn(material, _of_images(material, material.train_set), competition)
    return _files(material.test_set.images, _of_images(material, material.test_set), learnt, competition)


def classify_actions(material: Material, competition: Competition) -> Files:
    """Learn which actions a person performs from the person's box and its surroundings, and return result files."""
    learnt = _learn(material, _of_people(material, material.train_edition, material.train.image_sets), competition)
    public = material.test_set
    people = [f"{public.images[image]} {number}" for image, number in _persons(public).tolist()]
    return _files(people, _of_people(material, material.edition, material.test), learnt, competition)


def _files(items: Sequence[str], features: Features, learnt: Mapping[str, Ridge], competition: Competition) -> Files:
    """Return a file per class with a line per item; confidences are equal if a class has no training examples."""
    files = []
    for name in competition.classes:
        scores = learnt[name].predict(features)[:, 0].tolist() if name in learnt else [0.0] * len(items)
        lines = "".join(f"{item} {confidence(score, competition)}\n" for item, score in zip(items, scores, strict=True))
        files.append((expected_name(competition, name), lines.encode()))
    return files


def _learn(material: Material, features: Features, competition: Competition) -> dict[str, Ridge]:
    """Learn each class that has positive and negative examples."""
    truth = material.train.truths[material.task, _image_set(material.train_edition)]
    assert isinstance(truth, LabelTruth)  # noqa: S101  # of these tasks it is
    learnt = {}
    for name in competition.classes:
        labels = truth.labels[name]
        counted = labels.label != 0
        positive = labels.label[counted] > 0
        if positive.any() and not positive.all():
            target = np.where(positive, 1.0, -1.0)[:, None]
            learnt[name] = Ridge.fit(features[labels.item[counted]], target, balanced(positive))
    return learnt


def _image_set(edition: Edition) -> str:
    return next(iter(edition.competitions.values())).image_set


def _of_images(material: Material, image_set: ImageSet) -> Features:
    rows: list[Features] = [np.empty(0, np.float32)] * len(image_set.images)
    for place, grid in material.grids(image_set.images):
        rows[place] = grid.described(WHOLE)[0]
    return np.array(rows)


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
