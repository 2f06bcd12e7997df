"""What is among the first images of a class, by plain loops."""

import random

import numpy as np
import pytest

from vocboard.evaluator.diagnosis.classification import diagnose_labels
from vocboard.evaluator.editions import load
from vocboard.evaluator.ground_truth import Labels, LabelTruth
from vocboard.evaluator.results import Confidences, Entry

CLASSES = ("car", "cat", "dog")
IMAGES = 40
COMPETITION = load("VOC2012").competitions["comp1"]


@pytest.mark.parametrize("seed", range(20))
def test_mistakes_are_counted_by_what_they_show(seed: int) -> None:
    chance = random.Random(seed)
    labels = {name: [chance.choice([1, 0, -1, -1, -1]) for _ in range(IMAGES)] for name in CLASSES}
    scores = {name: [chance.random() for _ in range(IMAGES)] for name in CLASSES}
    items = np.arange(IMAGES, dtype=np.int32)
    truth = LabelTruth({name: Labels(items, np.array(own, dtype=np.int8)) for name, own in labels.items()})
    content = {name: Confidences(items, np.array(own)) for name, own in scores.items()}
    found = diagnose_labels(Entry(COMPETITION, CLASSES, content), truth)["first_images"]
    for name in CLASSES:
        counted = [image for image in range(IMAGES) if labels[name][image] != 0]
        ranked = sorted(counted, key=lambda image: -scores[name][image])
        number = labels[name].count(1)
        wrong = [image for image in ranked[:number] if labels[name][image] == -1]
        assert found[name]["images"] == number
        assert found[name]["precision"] == pytest.approx((number - len(wrong)) / number) if number else True
        for other in set(CLASSES) - {name}:
            shown = sum(labels[other][image] == 1 for image in wrong)
            assert found[name]["mistaken_for"].get(other, 0) == shown
        nothing = sum(all(labels[other][image] != 1 for other in CLASSES) for image in wrong)
        assert found[name]["none"] == nothing
