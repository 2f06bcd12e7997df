"""Example classifier: a linear score of the image for each class."""

from collections.abc import Mapping, Sequence

import numpy as np

from vocboard.evaluator.conversion.result_archive import Files
from vocboard.evaluator.editions import Competition, Edition
from vocboard.evaluator.examples.confidences import confidence
from vocboard.evaluator.examples.features import Features
from vocboard.evaluator.examples.material import Material
from vocboard.evaluator.examples.ridge import Ridge, balanced
from vocboard.evaluator.ground_truth import LabelTruth
from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.result_files.names import expected_name

WHOLE = np.array([[0.0, 0, 1, 1]])  # the box of the whole image, in fractions


def example_results(material: Material, competition: Competition) -> Files:
    """Learn which classes an image shows, and return the result files of the test images."""
    learnt = learn(material, _of_images(material, material.train_set), competition)
    return files_of(material.test_set.images, _of_images(material, material.test_set), learnt, competition)


def files_of(items: Sequence[str], features: Features, learnt: Mapping[str, Ridge], competition: Competition) -> Files:
    """Return a file per class with a line per item; confidences are equal if a class has no training examples."""
    files = []
    for name in competition.classes:
        scores = learnt[name].predict(features)[:, 0].tolist() if name in learnt else [0.0] * len(items)
        lines = "".join(f"{item} {confidence(score, competition)}\n" for item, score in zip(items, scores, strict=True))
        files.append((expected_name(competition, name), lines.encode()))
    return files


def learn(material: Material, features: Features, competition: Competition) -> dict[str, Ridge]:
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
