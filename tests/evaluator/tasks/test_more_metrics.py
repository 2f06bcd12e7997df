"""Secondary metrics of detection and layout that only custom editions have, against plain loops."""

import random
from dataclasses import replace

import numpy as np
import pytest

from tests.evaluator.diagnosis.cases import CLASSES, IMAGES, moved, random_box, random_case
from tests.evaluator.reference.calibration import calibration_error
from tests.evaluator.reference.detection import Detection, Object
from tests.evaluator.reference.recall_per_image import recall
from tests.evaluator.reference.replicates import tuples
from tests.evaluator.tasks.test_detection import detections_of, truth_of
from tests.support.seeds import seeds
from vocboard.evaluator.editions import Edition, Metric, load
from vocboard.evaluator.evidence.weights import draw_weights
from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.metrics.best_f1 import best_f1
from vocboard.evaluator.metrics.normalised_precision import normalised_average_precision
from vocboard.evaluator.metrics.precision_recall import Judgement
from vocboard.evaluator.names import Task
from vocboard.evaluator.reports.curves import f_measure
from vocboard.evaluator.results import Entry
from vocboard.evaluator.statistics.bootstrap import replicate
from vocboard.evaluator.tasks.definitions import METRICS, TASKS
from vocboard.evaluator.tasks.detection.scoring import DetectionScorer

RECALLS = {Metric.RECALL_1_PER_IMAGE: 1, Metric.RECALL_10_PER_IMAGE: 10, Metric.RECALL_100_PER_IMAGE: 100}
OF_DETECTION = (Metric.NORMALISED_AVERAGE_PRECISION, Metric.BEST_F1, *RECALLS, Metric.CALIBRATION_ERROR)
PUBLIC = ImageSet(tuple(IMAGES))


def with_secondary(name: str, competition: str, metrics: tuple[Metric, ...]) -> Edition:
    edition = load(name)
    chosen = edition.competitions[competition]
    rules = replace(chosen.rules, secondary=metrics)
    return replace(edition, competitions={competition: replace(chosen, rules=rules)})


@pytest.mark.parametrize("seed", seeds(15))
def test_detection(seed: int) -> None:
    found, objects = random_case(seed)
    edition = with_secondary("VOC2012", "comp3", OF_DETECTION)
    competition = edition.competitions["comp3"]
    entry = Entry(competition, CLASSES, {of: detections_of(rows) for of, rows in found.items()})
    truth = truth_of(objects, "VOC2012")
    scores = DetectionScorer().score(entry, truth, edition, PUBLIC, None)
    assert tuple(measure.metric for measure in scores.secondary) == OF_DETECTION
    values = {measure.metric: measure.per_class for measure in scores.secondary}
    evidence = DetectionScorer().evidence(entry, truth, edition, PUBLIC, None)
    weights = draw_weights(len(IMAGES), 6)
    for metric, number in RECALLS.items():
        expected = {of: recall(found[of], objects[of], number) for of in CLASSES}
        assert values[metric] == pytest.approx(expected, nan_ok=True)
        drawn = replicate(evidence, metric, edition, competition, weights)
        for column, each in enumerate(weights.T.tolist()):
            times = dict(zip(IMAGES, each, strict=True))
            wanted = [recall(tuples(found[of], times), tuples(objects[of], times), number) for of in CLASSES]
            assert drawn.per_class[:, column].tolist() == pytest.approx(wanted, nan_ok=True, abs=1e-12)
    errors = {of: calibration_error(found[of], objects[of]) for of in CLASSES}
    assert values[Metric.CALIBRATION_ERROR] == pytest.approx(errors, nan_ok=True)
    normal = 0.15 * len(IMAGES)
    for name in CLASSES:
        judgement = evidence.classes[name].matches(edition.overlap).judge()
        expected_score = normalised_average_precision(judgement, judgement.positives, normal)
        assert values[Metric.NORMALISED_AVERAGE_PRECISION][name] == pytest.approx(expected_score, nan_ok=True)


def crowded_case(seed: int, numbers: range = range(90, 220)) -> tuple[list[Detection], list[Object]]:
    """Return detections and objects of one class, with so many detections of each image and many equal confidences."""
    chance = random.Random(seed)
    objects = [(image, random_box(chance), chance.random() < 0.1) for image in IMAGES for _ in range(40)]
    found = []
    for image in IMAGES:
        own = [box for of, box, _ in objects if of == image]
        for _ in range(chance.choice(numbers)):
            found.append((image, round(chance.random(), 1), moved(chance.choice(own), chance)))
    chance.shuffle(found)
    return found, objects


@pytest.mark.parametrize("seed", seeds(5))
def test_recall_leaves_out_what_is_beyond_the_number_of_each_image(seed: int) -> None:
    found, objects = crowded_case(seed)
    edition = with_secondary("VOC2012", "comp3", tuple(RECALLS))
    entry = Entry(edition.competitions["comp3"], ("car",), {"car": detections_of(found)})
    truth = truth_of({name: objects if name == "car" else [] for name in CLASSES}, "VOC2012")
    scores = DetectionScorer().score(entry, truth, edition, PUBLIC, None)
    computed = [measure.per_class["car"] for measure in scores.secondary]
    expected = [recall(found, objects, number) for number in RECALLS.values()]
    assert computed == pytest.approx(expected)
    assert sorted({*expected, recall(found, objects, len(found))}) == [*expected, recall(found, objects, len(found))]


@pytest.mark.parametrize("seed", seeds(20))
def test_the_best_f1_of_layouts_is_the_highest_point_of_their_f_measure_curve(seed: int) -> None:
    chance = np.random.default_rng(seed)
    true = chance.random(30) < 0.4
    judgement = Judgement(true, ~true, 20)
    best = best_f1(judgement, None)
    assert best.f1 == pytest.approx(np.nanmax(f_measure(judgement.curve())))


def test_the_calibration_error_is_not_for_leaderboards_and_lower_is_better() -> None:
    hidden = {metric for metric, known in METRICS.items() if known.needs_public_ground_truth}
    assert Metric.CALIBRATION_ERROR in hidden
    assert not METRICS[Metric.CALIBRATION_ERROR].higher_is_better
    assert not any(hidden & set(definition.metrics) for definition in TASKS.values())
    assert Metric.CALIBRATION_ERROR in TASKS[Task.DETECTION].secondary_metrics(None)
