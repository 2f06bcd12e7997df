"""Matching at every overlap is that of pycocotools where the rules agree: one object of a class in an image.

COCO's tools let a detection fall back to another object, which cannot happen then, and interpolate at 101 recalls,
which is done here.
"""

import contextlib
import io
import math
import random

import numpy as np
import pytest
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

from tests.evaluator.diagnosis.cases import moved
from tests.evaluator.random_boxes import random_box
from tests.evaluator.reference.detection import Detection, Object
from tests.evaluator.tasks.test_detection import IMAGES, detections_of, truth_of
from tests.support.seeds import seeds
from vocboard.evaluator.diagnosis.measures import matches_of
from vocboard.evaluator.editions import Overlap, load
from vocboard.evaluator.metrics.matches import OVERLAPS
from vocboard.evaluator.metrics.precision_recall import Judgement
from vocboard.evaluator.tasks.detection.scoring import match

EDITION = load("VOC2012")
RULES = EDITION.competitions["comp3"].rules
NAME = EDITION.classes[0]


def random_case(seed: int) -> tuple[list[Detection], list[Object]]:
    chance = random.Random(seed)
    objects: list[Object] = [(image, random_box(chance), False) for image in IMAGES if chance.random() < 0.9]
    found = []
    for _ in range(chance.randrange(1, 20)):
        image, box, _ = chance.choice(objects) if objects else (IMAGES[0], random_box(chance), False)
        found.append((image, chance.random(), moved(box, chance)))
    return found, objects


def coco_box(box: tuple[float, ...]) -> list[float]:
    left, top, right, bottom = box
    return [left, top, right - left + 1, bottom - top + 1]


def by_pycocotools(
    found: list[Detection], objects: list[Object], area: tuple[float, float] = (0, math.inf)
) -> list[float]:
    """Return the average precision at each overlap of objects of some area, with all results of each image."""
    with contextlib.redirect_stdout(io.StringIO()):
        truth = COCO()
        truth.dataset = {
            "info": {},
            "images": [{"id": number} for number in range(1, len(IMAGES) + 1)],
            "categories": [{"id": 1}],
            "annotations": [
                {
                    "id": number,
                    "image_id": IMAGES.index(image) + 1,
                    "category_id": 1,
                    "bbox": coco_box(box),
                    "area": coco_box(box)[2] * coco_box(box)[3],
                    "iscrowd": 0,
                }
                for number, (image, box, _) in enumerate(objects, start=1)
            ],
        }
        truth.createIndex()
        results = truth.loadRes(
            [
                {"image_id": IMAGES.index(image) + 1, "category_id": 1, "bbox": coco_box(box), "score": confidence}
                for image, confidence, box in found
            ]
        )
        run = COCOeval(truth, results, "bbox")
        run.params.areaRng, run.params.areaRngLbl, run.params.maxDets = [list(area)], ["these"], [1000]
        run.params.iouThrs = np.array(OVERLAPS)
        run.evaluate()
        run.accumulate()
    return [float(precision[:, 0, 0, 0].mean()) for precision in run.eval["precision"]]


def at_101_recalls(judgement: Judgement) -> float:
    """Return COCO's average precision: the mean of the interpolated precision at recalls 0, 0.01 ... 1."""
    true = np.cumsum(judgement.true)
    counted = np.cumsum(judgement.true | judgement.false)
    recall, precision = true / judgement.positives, true / np.maximum(counted, 1)
    best = np.append(np.maximum.accumulate(precision[::-1])[::-1], 0.0)
    return float(best[np.searchsorted(recall, np.linspace(0, 1, 101), side="left")].mean())


@pytest.mark.parametrize("seed", seeds(30))
def test_true_and_false_positives_at_every_overlap_are_cocos(seed: int) -> None:
    found, objects = random_case(seed)
    if not objects:
        return
    evidence = match(detections_of(found), truth_of({NAME: objects}, "VOC2012"), 0)
    expected = by_pycocotools(found, objects)
    for overlap, score in zip(OVERLAPS, expected, strict=True):
        assert at_101_recalls(matches_of(evidence, RULES, Overlap(overlap))) == pytest.approx(score, abs=1e-12)
