"""Metrics of some objects of a class are those of plain loops, and by area those of pycocotools."""

import math
import random
from dataclasses import replace

import numpy as np
import pytest

from tests.evaluator.diagnosis.test_pycocotools import at_101_recalls, by_pycocotools
from tests.evaluator.reference import object_subsets
from tests.evaluator.reference.detection import Detection, Object
from tests.evaluator.reference.object_subsets import Annotated
from tests.evaluator.reference.overlap import Box
from tests.evaluator.tasks.test_detection import IMAGES, detections_of, random_case, truth_of
from tests.support.seeds import seeds
from vocboard.evaluator.editions import Edition, Metric, Task, load
from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.metrics.matches import OVERLAPS
from vocboard.evaluator.results import Entry
from vocboard.evaluator.scores import Measure
from vocboard.evaluator.tasks.detection.scoring import DetectionScorer, match
from vocboard.evaluator.tasks.detection.subset_scores import ClassSubsets
from vocboard.evaluator.tasks.detection.subsets import AREAS, SUBSETS, UNKNOWN, VIEWS, YES, Characteristic
from vocboard.evaluator.tasks.detection.truth import DetectionTruth

NUMBER_OF_IMAGES = 10
SEEDS = seeds(60)


def asking(edition: Edition) -> Edition:
    """Return the edition asking for every metric of some objects."""
    competitions = {
        key: replace(each, rules=replace(each.rules, secondary=tuple(SUBSETS)))
        for key, each in edition.competitions.items()
        if each.task is Task.DETECTION
    }
    return replace(edition, competitions=competitions)


def scaled(box: Box, factor: int) -> Box:
    """Return a box of a grid so coarse that areas are on both sides of 32² and 96², and exactly there."""
    left, top, right, bottom = box
    return (left - 1) * factor + 1, (top - 1) * factor + 1, right * factor, bottom * factor


def annotated(truth: DetectionTruth, seed: int) -> DetectionTruth:
    chance, number = np.random.default_rng(seed), len(truth.image)

    def drawn(values: int) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
        return chance.integers(0, values, number).astype(np.uint8)

    return replace(truth, truncated=drawn(YES + 1), occluded=drawn(YES + 1), view=drawn(len(VIEWS)))


def measures_of(edition: Edition, found: dict[str, list[Detection]], truth: DetectionTruth) -> dict[Metric, Measure]:
    content = {name: detections_of(rows) for name, rows in found.items()}
    competition = next(iter(edition.competitions.values()))
    entry = Entry(competition, tuple(found), content)
    scores = DetectionScorer().score(entry, truth, edition, ImageSet(tuple(map(str, range(NUMBER_OF_IMAGES)))), None)
    return {measure.metric: measure for measure in scores.secondary}


def objects_of(truth: DetectionTruth, index: int) -> list[Annotated]:
    """Return the objects of a class."""
    assert truth.truncated is not None
    assert truth.occluded is not None
    assert truth.view is not None
    rows = zip(truth.image, truth.box, truth.difficult, truth.truncated, truth.occluded, truth.view, strict=True)
    return [
        (IMAGES[image], tuple(box.tolist()), *rest)
        for (image, box, *rest), of_class in zip(rows, truth.class_index.tolist(), strict=True)
        if of_class == index
    ]


@pytest.mark.parametrize("name", ["VOC2007", "VOC2012"])
@pytest.mark.parametrize("seed", SEEDS)
def test_scores_of_some_objects_are_those_of_plain_loops(name: str, seed: int) -> None:
    edition, factor = asking(load(name)), (1, 8, 12)[seed % 3]
    drawn, objects = random_case(seed)
    found = {key: [(i, c, scaled(box, factor)) for i, c, box in rows] for key, rows in drawn.items()}
    objects = {key: [(i, scaled(box, factor), d) for i, box, d in rows] for key, rows in objects.items()}
    truth = annotated(truth_of(objects, name), seed)
    measures = measures_of(edition, found, truth)
    rules = next(iter(edition.competitions.values())).rules
    assert set(measures) == set(SUBSETS)
    for key, rows in found.items():
        own = objects_of(truth, edition.classes.index(key))
        for metric, subset in SUBSETS.items():
            expected, number = object_subsets.of_objects(subset, rows, own, rules, 0.15 * NUMBER_OF_IMAGES)
            score = pytest.approx(math.nan if expected is None else expected, abs=1e-12, nan_ok=True)
            assert measures[metric].per_class[key] == score, metric
            assert (measures[metric].objects or {})[key] == number


@pytest.mark.parametrize("seed", SEEDS)
def test_by_area_true_and_false_positives_are_those_of_pycocotools(seed: int) -> None:
    """The rules agree where no detection overlaps two objects enough: COCO's tools let it fall back to the other."""
    chance = random.Random(seed)
    objects: list[Object] = []
    found: list[Detection] = []
    for image in IMAGES:
        for place in range(chance.randrange(4)):
            left, top = 1000.0 * place + 1, 1.0
            width, height = (chance.choice([16, 32, 40, 64, 96, 100, 144, 200]) for _ in range(2))
            objects.append((image, (left, top, left + width - 1, top + height - 1), False))
            for _ in range(chance.randrange(4)):
                right, bottom = (round(side * chance.choice([1, 1, 0.9, 0.7, 0.55, 0.3])) for side in (width, height))
                found.append((image, chance.random(), (left, top, left + right - 1, top + bottom - 1)))
    if not objects or not found:
        return
    edition = asking(load("VOC2012"))
    truth, detections = truth_of({edition.classes[0]: objects}, edition.name), detections_of(found)
    own = ClassSubsets(
        detections,
        match(detections, truth, 0),
        truth,
        truth.class_index == 0,
        edition.overlap,
        next(iter(edition.competitions.values())).rules,
        NUMBER_OF_IMAGES,
    )
    metrics = [metric for metric, subset in SUBSETS.items() if subset.characteristic is Characteristic.AREA]
    for metric, area in zip(metrics, AREAS, strict=True):
        judgements, expected = own.judgements(metric), by_pycocotools(found, objects, area)
        if not judgements[0].positives:
            assert expected == [-1] * len(OVERLAPS)  # not defined
            assert math.isnan(own.value(metric).score())
            continue
        assert [at_101_recalls(each) for each in judgements] == pytest.approx(expected, abs=1e-12)


def test_without_annotations_subsets_by_them_are_undefined() -> None:
    objects = [("a", (1.0, 1.0, 10.0, 10.0), False)]
    truth = truth_of({"person": objects}, "VOC2012")
    unknown = np.full(1, UNKNOWN, dtype=np.uint8)
    found = {"person": [("a", 0.5, objects[0][1])]}
    for given in (truth, replace(truth, truncated=unknown, occluded=unknown, view=unknown)):
        measures = measures_of(asking(load("VOC2012")), found, given)
        undefined = {metric for metric, measure in measures.items() if math.isnan(measure.per_class["person"])}
        assert undefined >= {metric for metric in SUBSETS if "truncated" in metric or "occluded" in metric}
        assert undefined >= {metric for metric in SUBSETS if "view" in metric}
        assert measures[Metric.NORMALISED_AP_SIZE_EXTRA_SMALL].per_class == {"person": 1.0}


def test_results_that_find_other_objects_are_ignored_and_repetitions_are_wrong_for_every_subset() -> None:
    """Of a small and a large object, the large one is found first, and twice."""
    small, large = (1.0, 1.0, 10.0, 10.0), (201.0, 1.0, 400.0, 200.0)
    truth = truth_of({"person": [("a", small, False), ("a", large, False)]}, "VOC2012")
    found = [("a", 0.9, large), ("a", 0.8, large), ("a", 0.7, small)]
    measures = measures_of(asking(load("VOC2012")), {"person": found}, truth)
    normal = 0.15 * NUMBER_OF_IMAGES
    assert measures[Metric.NORMALISED_AP_SIZE_EXTRA_SMALL].per_class["person"] == pytest.approx(normal / (normal + 1))
    # The repetition has the area of a large object, so for COCO it is wrong only among these.
    assert measures[Metric.AVERAGE_PRECISION_50_95_SMALL].per_class["person"] == 1.0
    assert measures[Metric.AVERAGE_PRECISION_50_95_LARGE].per_class["person"] == 1.0
    found[0], found[1] = ("a", 0.9, (201.0, 1.0, 250.0, 50.0)), ("a", 0.8, large)
    measures = measures_of(asking(load("VOC2012")), {"person": found}, truth)
    assert measures[Metric.AVERAGE_PRECISION_50_95_LARGE].per_class["person"] == 1.0
