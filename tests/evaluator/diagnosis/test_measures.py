"""Measures of ranked results are those of plain loops, and of pycocotools where the rules agree."""

import math
import random

import numpy as np
import pytest

from tests.evaluator.diagnosis.cases import CLASSES, IMAGES, random_case
from tests.evaluator.reference import average_precision
from tests.evaluator.reference.detection import Detection, Object, marks
from tests.evaluator.reference.object_subsets import found_objects, normalised
from tests.evaluator.tasks.test_detection import detections_of, truth_of
from tests.support.seeds import seeds
from vocboard.evaluator.diagnosis import measures
from vocboard.evaluator.diagnosis.characteristics import SIZES, by_characteristic
from vocboard.evaluator.diagnosis.segmentation import confusions
from vocboard.evaluator.editions import Task, load
from vocboard.evaluator.evidence.ranked_evidence import MatchedResults
from vocboard.evaluator.metrics.best_f1 import best_f1
from vocboard.evaluator.metrics.calibration import calibration
from vocboard.evaluator.metrics.confusion_matrix import frequency_weighted_iou, overall_pixel_accuracy
from vocboard.evaluator.metrics.normalised_precision import normalised_average_precision
from vocboard.evaluator.metrics.object_subsets import fifths
from vocboard.evaluator.metrics.precision_recall import Judgement
from vocboard.evaluator.tasks.detection.scoring import match

EDITION = load("VOC2012")
RULES = next(each.rules for each in EDITION.competitions.values() if each.task is Task.DETECTION)
NAME = CLASSES[0]
Case = tuple[list[Detection], list[Object]]


def case(seed: int) -> tuple[Case, MatchedResults]:
    found, objects = random_case(seed)
    truth = truth_of(objects, "VOC2012")
    evidence = match(detections_of(found[NAME]), truth, EDITION.classes.index(NAME))
    return (found[NAME], sorted(objects[NAME], key=lambda each: each[0])), evidence


def marks_at(found: list[Detection], objects: list[Object], least: float) -> list[str]:
    """Return the marks by rank for a required overlap, as the reference for one half does."""
    return [mark for mark, _, _ in found_objects(found, objects, least)]


def same(found: float, expected: float | None) -> None:
    assert found == pytest.approx(math.nan if expected is None else expected, nan_ok=True, abs=1e-12)


@pytest.mark.parametrize("seed", seeds(40))
def test_average_precision_at_other_overlaps(seed: int) -> None:
    (found, objects), evidence = case(seed)
    positives = sum(not difficult for _, _, difficult in objects)
    by_overlap = measures.at_overlaps(evidence, RULES, strict=False)
    assert list(by_overlap) == [0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95]
    for least, score in by_overlap.items():
        same(score, average_precision.area(marks_at(found, objects, least), positives))


@pytest.mark.parametrize("seed", seeds(40))
def test_normalised_average_precision(seed: int) -> None:
    (found, objects), evidence = case(seed)
    counted = {place for place, (_, _, difficult) in enumerate(objects) if not difficult}
    judgement = measures.matches_of(evidence, RULES, EDITION.overlap)
    score = normalised_average_precision(judgement, len(counted), 7.5)
    same(score, normalised(found_objects(found, objects, 0.5), counted, 7.5))


def test_with_the_classs_own_number_of_positives_it_is_the_ordinary_one() -> None:
    judgement = Judgement(np.array([True, False, True]), np.array([False, True, False]), 4)
    same(normalised_average_precision(judgement, 4, 4), judgement.average_precision(RULES.interpolation))


@pytest.mark.parametrize("seed", seeds(40))
def test_best_f1(seed: int) -> None:
    (found, objects), evidence = case(seed)
    judged, positives = marks(found, objects, with_difficult=False)
    ranked = sorted((row[1] for row in found), reverse=True)
    best = best_f1(measures.matches_of(evidence, RULES, EDITION.overlap), evidence.confidence)
    scores = []
    for threshold in ranked:
        kept = [mark for mark, confidence in zip(judged, ranked, strict=True) if confidence >= threshold]
        right, wrong = kept.count("true"), kept.count("false")
        if right:
            precision, recall = right / (right + wrong), right / positives
            scores.append((2 * precision * recall / (precision + recall), threshold, precision, recall))
    if not scores:
        assert best is None
        return
    expected = max(scores)
    assert (best.f1, best.confidence, best.precision, best.recall) == pytest.approx(expected)


def test_results_of_equal_confidence_are_kept_together() -> None:
    evidence = MatchedResults(
        image=np.zeros(2, dtype=np.int32),
        confidence=np.array([0.5, 0.5]),
        object=np.zeros(2, dtype=np.int32),
        overlap=np.array([1.0, 0.0]),
        object_image=np.zeros(1, dtype=np.int32),
        object_difficult=np.zeros(1, dtype=np.bool_),
    )
    best = best_f1(measures.matches_of(evidence, RULES, EDITION.overlap), evidence.confidence)
    assert (best.precision, best.recall) == (0.5, 1.0)


@pytest.mark.parametrize("seed", seeds(40))
def test_recall_by_results_per_image(seed: int) -> None:
    (found, objects), evidence = case(seed)
    recalls = measures.recall_by_results_per_image(evidence, measures.matches_of(evidence, RULES, EDITION.overlap))
    for number, recall in recalls.items():
        kept = [
            row
            for image in IMAGES
            for row in sorted((each for each in found if each[0] == image), key=lambda each: -each[1])[:number]
        ]
        judged, positives = marks(kept, objects, with_difficult=False)
        same(recall, judged.count("true") / positives if positives else None)


def test_calibration_of_confidences_that_are_right_is_good() -> None:
    chance = random.Random(1)
    confidence = np.array(sorted((chance.random() for _ in range(20_000)), reverse=True))
    true = np.array([chance.random() < each for each in confidence.tolist()])
    found = calibration(Judgement(true, ~true, int(true.sum())), confidence)
    assert found.error < 0.02
    assert found.results.sum() == len(confidence)
    assert found.precision == pytest.approx(found.confidence, abs=0.05)
    overconfident = calibration(Judgement(true & False, ~true | True, 1), confidence)
    assert overconfident.error == pytest.approx(confidence.mean())


def test_confidences_that_are_no_probabilities_have_no_calibration() -> None:
    for confidence in ([1.5], [-0.1], []):
        true = np.ones(len(confidence), dtype=np.bool_)
        assert calibration(Judgement(true, ~true, 1), np.array(confidence)) is None


def test_objects_are_divided_at_10_30_70_and_90_per_cent() -> None:
    value = np.arange(100.0)
    part = fifths(value, np.ones(100, dtype=np.bool_))
    assert np.bincount(part).tolist() == [10, 20, 40, 20, 10]
    assert fifths(np.ones(50), np.ones(50, dtype=np.bool_)).tolist() == [0] * 50  # equal values stay together
    assert fifths(np.empty(0), np.empty(0, dtype=np.bool_)).tolist() == []


@pytest.mark.parametrize("seed", seeds(20))
def test_parts_have_their_own_objects_and_all_false_positives(seed: int) -> None:
    (_, _), evidence = case(seed)
    judgement = measures.matches_of(evidence, RULES, EDITION.overlap)
    part = np.arange(len(evidence.object_image)) % len(SIZES)
    found = by_characteristic(evidence, judgement, part, SIZES, 10)
    assert sum(objects for objects, _ in found.values()) == judgement.positives
    for index, (objects, score) in enumerate(found.values()):
        true = np.array([bool(t) and part[o] == index for t, o in zip(judgement.true, evidence.object, strict=True)])
        own = Judgement(true.astype(np.bool_), judgement.false, objects)
        same(score, normalised_average_precision(own, objects, 10))


def test_measures_of_all_pixels() -> None:
    matrix = np.array([[50, 10, 0], [5, 15, 0], [20, 0, 0]])
    assert overall_pixel_accuracy(matrix) == 0.65
    assert frequency_weighted_iou(matrix) == pytest.approx((60 * 50 / 85 + 20 * 15 / 30 + 20 * 0) / 100)
    assert [(each["true"], each["found"], each["pixels"]) for each in confusions(matrix, ("b", "c", "d"))] == [
        ("d", "b", 20),
        ("b", "c", 10),
        ("c", "b", 5),
    ]
    assert math.isnan(overall_pixel_accuracy(np.zeros((2, 2), dtype=np.int64)))
    assert math.isnan(frequency_weighted_iou(np.zeros((2, 2), dtype=np.int64)))
