"""Replicates of the metrics that only secondary scores have are those of plain loops over literal copies of images."""

import io
import random
from dataclasses import replace

import numpy as np
import pytest

from tests.evaluator.metrics.test_boundaries import patches
from tests.evaluator.reference import (
    boundaries,
    classification,
    layout,
    object_subsets,
    segmentation,
)
from tests.evaluator.reference.best_f1 import best_f1
from tests.evaluator.reference.detection import Detection
from tests.evaluator.reference.replicates import Times, tuples
from tests.evaluator.statistics.test_replicates import competition_of, copied_parts, drawn, evidence_of, same, scores_of
from tests.evaluator.tasks import test_classification as of_classification
from tests.evaluator.tasks import test_detection as of_detection
from tests.evaluator.tasks import test_layout as of_layout
from tests.evaluator.tasks.test_object_subsets import annotated, objects_of, scaled
from tests.support.seeds import seeds
from vocboard.evaluator.editions import Competition, Metric, Task, load
from vocboard.evaluator.ground_truth import Labels, LabelTruth
from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.metrics.boundaries import TRIMAP_WIDTH, Boundaries
from vocboard.evaluator.metrics.confusion_matrix import Confusion
from vocboard.evaluator.metrics.label_runs import LabelRuns
from vocboard.evaluator.results import Confidences, Entry, Segmented
from vocboard.evaluator.statistics.bootstrap import bootstrap
from vocboard.evaluator.statistics.evidence_file import Origin, load_evidence, store_evidence
from vocboard.evaluator.tasks.definitions import METRICS
from vocboard.evaluator.tasks.detection.subsets import SUBSETS
from vocboard.evaluator.tasks.scorer import LabelMapCounts

NORMAL = 0.15 * len(of_detection.IMAGES)


def asking(competition: Competition, *metrics: Metric) -> Competition:
    return replace(competition, rules=replace(competition.rules, secondary=metrics))


@pytest.mark.parametrize("seed", seeds(25))
def test_detection(seed: int) -> None:
    edition, factor = load("VOC2012"), (1, 8, 12)[seed % 3]
    drawn_case, own = of_detection.random_case(seed)
    found = {name: [(i, c, scaled(box, factor)) for i, c, box in rows] for name, rows in drawn_case.items()}
    objects = {name: [(i, scaled(box, factor), d) for i, box, d in rows] for name, rows in own.items()}
    truth = annotated(of_detection.truth_of(objects, edition.name), seed)
    competition = competition_of(edition.name, Task.DETECTION)
    entry = Entry(competition, tuple(found), {name: of_detection.detections_of(rows) for name, rows in found.items()})
    evidence = evidence_of(entry, truth, edition, ImageSet(tuple(of_detection.IMAGES)), None)
    weights, replicates = drawn(of_detection.IMAGES)
    for name, detections in found.items():
        of_class = objects_of(truth, edition.classes.index(name))
        for metric in (Metric.NORMALISED_AVERAGE_PRECISION, Metric.BEST_F1, *SUBSETS):
            scores = scores_of(evidence, metric, competition, edition.name, weights)[name]
            expected = [
                metric_of(metric, tuples(detections, times), tuples(of_class, times), competition)
                for times in replicates
            ]
            same(scores, iter(expected))


def metric_of(
    metric: Metric, found: list[Detection], objects: list[object_subsets.Annotated], competition: Competition
) -> float | None:
    """Return a metric of one class."""
    if metric in SUBSETS:
        return object_subsets.of_objects(SUBSETS[metric], found, objects, competition.rules, NORMAL)[0]
    counted = {place for place, each in enumerate(objects) if not each[2]}
    judged = object_subsets.found_objects(found, [each[:3] for each in objects], 0.5)
    if metric is Metric.NORMALISED_AVERAGE_PRECISION:
        return object_subsets.normalised(judged, counted, NORMAL)
    confidences = sorted((confidence for _, confidence, _ in found), reverse=True)
    return best_f1([mark for mark, _, _ in judged], confidences, len(counted))


@pytest.mark.parametrize("seed", seeds(20))
def test_the_best_f1_of_classification(seed: int) -> None:
    confidences, labels = of_classification.random_case(seed)
    images = sorted({*confidences, *(item for item, _ in labels)})
    competition = competition_of("VOC2012", Task.CLASSIFICATION)
    name = competition.classes[0]
    lines, truth = of_classification.columns((confidences, labels))
    entry = Entry(competition, (name,), {name: lines})
    evidence = evidence_of(entry, LabelTruth({name: truth}), load("VOC2012"), ImageSet(tuple(images)), None)
    weights, replicates = drawn(images)

    def reference(times: Times) -> float | None:
        own, listed = dict(tuples(confidences.items(), times)), tuples(labels, times)
        ranked = sorted((own.get(item, float("-inf")) for item, _ in listed), reverse=True)
        marks, positives = classification.marks(own, listed, False)
        return best_f1(marks, ranked, positives)

    same(scores_of(evidence, Metric.BEST_F1, competition, "VOC2012", weights)[name], map(reference, replicates))


@pytest.mark.smoke
@pytest.mark.parametrize("of_people", [False, True])
@pytest.mark.parametrize("seed", seeds(30))
def test_forced_choice(seed: int, of_people: bool) -> None:
    """Of images, or of people, who are drawn with their images. A quarter of the confidences is missing."""
    chance = random.Random(seed)
    task = Task.ACTION if of_people else Task.CLASSIFICATION
    competition = competition_of("VOC2012", task)
    names, items = competition.classes[:3], 25
    competition = replace(competition, rules=replace(competition.rules, classes=names))
    image_of = [number // 3 for number in range(items)] if of_people else list(range(items))
    images = [str(number) for number in range(1 + image_of[-1])]
    labels = [[chance.choice([1, 0, -1, -1, -1]) for _ in names] for _ in range(items)]
    entered = names[: 3 if seed % 3 else 2]
    values = [[chance.choice([0.1, 0.5, 0.9, -np.inf]) for _ in entered] for _ in range(items)]
    every = np.arange(items, dtype=np.int32)
    truth = LabelTruth(
        {name: Labels(every, np.array(own, dtype=np.int8)) for name, *own in zip(names, *labels, strict=True)}
    )
    given = {name: np.array(own) for name, *own in zip(entered, *values, strict=True)}
    content = {name: Confidences(every[own > -np.inf], own[own > -np.inf]) for name, own in given.items()}
    persons = np.array([[image, 1] for image in image_of], dtype=np.int32) if of_people else None
    entry = Entry(competition, entered, content)
    evidence = evidence_of(entry, truth, load("VOC2012"), ImageSet(tuple(images), persons=persons), None)
    weights, replicates = drawn(images)
    scores = scores_of(evidence, Metric.FORCED_CHOICE_ACCURACY, competition, "VOC2012", weights)

    def reference(times: Times, place: int) -> float | None:
        right = []
        for number in range(items):
            if labels[number][place] == 1 and labels[number].count(-1) == len(names) - 1:
                best = [i for i, value in enumerate(values[number]) if value == max(values[number])]
                right += [(place in best) / len(best)] * times[images[image_of[number]]]
        return sum(right) / len(right) if right else None

    for place, name in enumerate(entered):
        same(scores[name], (reference(times, place) for times in replicates))


@pytest.mark.parametrize("seed", seeds(6))
def test_segmentation(seed: int) -> None:
    chance = np.random.default_rng(seed)
    sizes = [(1, 1), (30, 41), (5, 90), (12, 12)]
    truths = [patches(chance, [0, 0, 1, 2, 255], size, (1, 4, 13)[seed % 3]) for size in sizes]
    results = [np.where(chance.random(truth.shape) < 0.9, truth % 255, 1).astype(np.uint8) for truth in truths]
    images = [str(number) for number in range(len(sizes))]
    competition = competition_of("VOC2012", Task.SEGMENTATION)
    confusion, near = Confusion(len(competition.classes)), Boundaries(len(competition.classes))
    for image in reversed(range(len(sizes))):  # label maps come in any order
        confusion.add(image, LabelRuns.of(truths[image]), results[image])
        near.add(image, LabelRuns.of(truths[image]), results[image])
    entry = Entry(competition, competition.classes, Segmented(np.arange(len(images), dtype=np.int32)))
    counts = LabelMapCounts(confusion.by_image(), near.counts())
    evidence = evidence_of(entry, None, load("VOC2012"), ImageSet(tuple(images)), counts)
    weights, replicates = drawn(images)
    maps = [
        ([truths[i].tolist() for i in copies], [results[i].tolist() for i in copies])
        for copies in ([i for i, image in enumerate(images) for _ in range(times[image])] for times in replicates)
    ]

    def scores(metric: Metric) -> dict[str, np.ndarray]:
        return dict(scores_of(evidence, metric, competition, "VOC2012", weights))

    weighted = scores(Metric.FREQUENCY_WEIGHTED_IOU)["all labels"]
    same(weighted, (segmentation.frequency_weighted_iou(*each, 21) for each in maps))
    trimap = scores(Metric.TRIMAP_ACCURACY)["all labels"]
    same(trimap, (boundaries.trimap_accuracy(*each, TRIMAP_WIDTH) for each in maps))
    for label, name in enumerate(("background", *competition.classes[:3])):
        same(scores(Metric.BOUNDARY_IOU)[name], (boundaries.boundary_iou(*each, label) for each in maps))


@pytest.mark.parametrize("seed", seeds(10))
def test_the_f_measure_of_layouts(seed: int) -> None:
    found, people = of_layout.random_case(seed)
    edition = load("VOC2012")
    competition = competition_of("VOC2012", Task.LAYOUT)
    entry = Entry(competition, competition.classes, of_layout.layouts_of(found, by_box=False))
    evidence = evidence_of(entry, of_layout.truth_of(people), edition, ImageSet(tuple(of_layout.IMAGES)), None)
    weights, replicates = drawn(of_layout.IMAGES)
    scores = scores_of(evidence, Metric.BEST_F1, competition, "VOC2012", weights)
    for name in layout.PARTS:

        def reference(times: Times, name: str = name) -> float | None:
            marks, positives = copied_parts(found, people, times, name)
            return best_f1(marks, None, positives)

        same(scores[name], map(reference, replicates))


def test_all_metrics_have_intervals_but_the_calibration_error_and_stored_evidence_says_what_it_lacks() -> None:
    assert {metric for metric in Metric if not METRICS[metric].has_intervals} == {Metric.CALIBRATION_ERROR}
    edition = load("VOC2012")
    found, objects = of_detection.random_case(3)
    metrics = (Metric.BEST_F1, Metric.CALIBRATION_ERROR, *SUBSETS)
    competition = asking(competition_of("VOC2012", Task.DETECTION), *metrics)
    entry = Entry(competition, tuple(found), {name: of_detection.detections_of(rows) for name, rows in found.items()})
    truth = of_detection.truth_of(objects, edition.name)
    evidence = evidence_of(entry, truth, edition, ImageSet(tuple(of_detection.IMAGES)), None)
    measures = bootstrap(evidence, edition, competition, 100).measures
    assert set(measures) == {Metric.AVERAGE_PRECISION, Metric.BEST_F1, *SUBSETS}
    stored = load_evidence(io.BytesIO(store_evidence(evidence, Origin("comp3", "0"))), Origin("comp3", "0"))
    with pytest.raises(ValueError, match="needs more than evidence"):
        bootstrap(stored, edition, competition, 100)
