"""Scores of replicates are those of a reference implementation that copies images, truth and results literally."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.evaluator.reference import average_precision, classification, detection, layout, roc, segmentation
from tests.evaluator.reference.replicates import Times, copied, copy_name, tuples
from tests.evaluator.tasks import test_classification as of_classification
from tests.evaluator.tasks import test_detection as of_detection
from tests.evaluator.tasks import test_layout as of_layout
from tests.evaluator.tasks import test_segmentation as of_segmentation
from tests.support.seeds import seeds
from vocboard.evaluator.editions import Competition, Edition, Metric, Task, load
from vocboard.evaluator.evidence.evidence import Evidence
from vocboard.evaluator.evidence.weights import Weights, draw_weights
from vocboard.evaluator.ground_truth import LabelTruth
from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.metrics.confusion_matrix import Confusion
from vocboard.evaluator.metrics.label_runs import LabelRuns
from vocboard.evaluator.results import Entry, Segmented
from vocboard.evaluator.statistics.bootstrap import replicate
from vocboard.evaluator.tasks.scorer import LabelMapCounts
from vocboard.evaluator.tasks.scorers import SCORERS

Row = TypeVar("Row", layout.Layout, layout.Person)

TOLERANCE = 1e-12  # that of the development kits' scores
REPLICATES = 12


def evidence_of(entry: Entry, truth: Any, edition: Edition, public: ImageSet, maps: LabelMapCounts | None) -> Evidence:
    return SCORERS[entry.competition.task].evidence(entry, truth, edition, public, maps)


def drawn(images: list[str]) -> tuple[Weights, list[Times]]:
    """Return replicates, the first of which has every image once."""
    weights = draw_weights(len(images), REPLICATES)
    weights[:, 0] = 1
    return weights, [dict(zip(images, column.tolist(), strict=True)) for column in weights.T]


def competition_of(edition: str, task: Task) -> Competition:
    return next(each for each in load(edition).competitions.values() if each.task is task)


def scores_of(
    evidence: Evidence, metric: Metric, competition: Competition, edition: str, weights: Weights
) -> Mapping[str, NDArray[np.float64]]:
    found = replicate(evidence, metric, load(edition), competition, weights)
    return dict(zip(found.measure.per_class, found.per_class, strict=True))


def same(found: NDArray[np.float64], expected: Iterator[float | None]) -> None:
    wanted = [np.nan if value is None else float(value) for value in expected]
    assert found.tolist() == pytest.approx(wanted, abs=TOLERANCE, rel=0, nan_ok=True)


@pytest.mark.parametrize("edition", ["VOC2006", "VOC2007", "VOC2009", "VOC2012"])
@pytest.mark.parametrize("seed", seeds(15))
def test_detection(edition: str, seed: int) -> None:
    found, objects = of_detection.random_case(
        seed, ("bus", "person", "cow") if edition == "VOC2006" else of_detection.CLASSES
    )
    competition = competition_of(edition, Task.DETECTION)
    content = {name: of_detection.detections_of(rows) for name, rows in found.items()}
    images = of_detection.IMAGES
    truth = of_detection.truth_of(objects, edition)
    entry = Entry(competition, tuple(found), content)
    evidence = evidence_of(entry, truth, load(edition), ImageSet(tuple(images)), None)
    weights, replicates = drawn(images)
    excuses_one = competition.rules.repeats_on_difficult_are_false

    def marks(name: str, times: Times, with_difficult: bool) -> tuple[list[str], int]:
        results, truths = tuples(found[name], times), tuples(objects[name], times)
        return detection.marks(results, truths, with_difficult, difficult_excuses_one=excuses_one)

    area = scores_of(evidence, Metric.AVERAGE_PRECISION_AREA, competition, edition, weights)
    primary = scores_of(evidence, Metric.AVERAGE_PRECISION, competition, edition, weights)
    every = scores_of(evidence, Metric.AVERAGE_PRECISION_WITH_DIFFICULT, competition, edition, weights)
    rules = competition.rules
    for name in found:
        same(area[name], (average_precision.area(*marks(name, times, False)) for times in replicates))
        same(
            primary[name],
            (average_precision.average_precision(*marks(name, times, False), rules) for times in replicates),
        )
        same(
            every[name], (average_precision.average_precision(*marks(name, times, True), rules) for times in replicates)
        )


@pytest.mark.parametrize("edition", ["VOC2005", "VOC2006", "VOC2009", "VOC2012"])
@pytest.mark.parametrize("seed", seeds(30))
def test_classification(edition: str, seed: int) -> None:
    confidences, labels = of_classification.random_case(seed)
    images = sorted({*confidences, *(item for item, _ in labels)})
    competition = competition_of(edition, Task.CLASSIFICATION)
    name = competition.classes[0]
    lines, truth = of_classification.columns((confidences, labels))
    entry = Entry(competition, (name,), {name: lines})
    evidence = evidence_of(entry, LabelTruth({name: truth}), load(edition), ImageSet(tuple(images)), None)
    weights, replicates = drawn(images)

    def case(times: Times) -> tuple[dict[str, float], list[tuple[str, int]]]:
        return dict(tuples(confidences.items(), times)), tuples(labels, times)

    def items(times: Times) -> list[roc.Item]:
        own, listed = case(times)
        return [(own.get(item, float("-inf")), label) for item, label in listed]

    rules = competition.rules
    expected = {
        Metric.AVERAGE_PRECISION: lambda times: average_precision.average_precision(
            *classification.marks(*case(times), False), rules
        ),
        Metric.AVERAGE_PRECISION_AREA: lambda times: average_precision.area(*classification.marks(*case(times), False)),
        Metric.AVERAGE_PRECISION_WITH_DIFFICULT: lambda times: average_precision.average_precision(
            *classification.marks(*case(times), True), rules
        ),
    }
    if edition == "VOC2006":
        expected[Metric.ROC_AUC] = lambda times: roc.area_under_envelope(items(times))
    else:
        expected[Metric.ROC_AUC] = lambda times: roc.area(items(times))
        expected[Metric.EQUAL_ERROR_RATE] = lambda times: roc.equal_error_accuracy(items(times))
    for metric, reference in expected.items():
        scores = scores_of(evidence, metric, competition, edition, weights)
        same(scores[name], map(reference, replicates))
        if metric is Metric.ROC_AUC:  # a quotient of whole numbers, so not even rounding differs
            exact = [float("nan") if value is None else float(value) for value in map(reference, replicates)]
            assert np.array_equal(scores[name], exact, equal_nan=True)


@pytest.mark.parametrize("seed", seeds(30))
def test_action_draws_images_with_all_their_people(seed: int) -> None:
    confidences, labels = of_classification.random_case(seed)
    people = sorted({*confidences, *(item for item, _ in labels)})
    images = [f"image {number}" for number in range(1 + len(people) // 3)]
    of_person = {person: images[number % len(images)] for number, person in enumerate(people)}
    persons = np.array([[images.index(of_person[person]), 1] for person in people], dtype=np.int32).reshape(-1, 2)
    competition = competition_of("VOC2012", Task.ACTION)
    lines, truth = of_classification.columns((confidences, labels))
    entry = Entry(competition, ("walking",), {"walking": lines})
    public = ImageSet(tuple(images), persons=persons)
    evidence = evidence_of(entry, LabelTruth({"walking": truth}), load("VOC2012"), public, None)
    weights, replicates = drawn(images)

    def reference(times: Times) -> float | None:
        own = dict(
            copied(confidences.items(), times, lambda row: of_person[row[0]], lambda row, name: (row[0] + name, row[1]))
        )
        listed = copied(labels, times, lambda row: of_person[row[0]], lambda row, name: (row[0] + name, row[1]))
        return average_precision.area(*classification.marks(own, listed, False))

    scores = scores_of(evidence, Metric.AVERAGE_PRECISION, competition, "VOC2012", weights)
    same(scores["walking"], map(reference, replicates))


@pytest.mark.parametrize("edition", ["VOC2007", "VOC2012"])
@pytest.mark.parametrize("seed", seeds(10))
def test_segmentation_exactly(edition: str, seed: int) -> None:
    truths, results = of_segmentation.random_maps(seed)
    images = [str(number) for number in range(len(truths))]
    competition = competition_of(edition, Task.SEGMENTATION)
    confusion = Confusion(len(competition.classes))
    for image, (true, found) in enumerate(zip(truths, results, strict=True)):
        confusion.add(image, LabelRuns.of(np.array(true, dtype=np.uint8)), np.array(found, dtype=np.uint8))
    entry = Entry(competition, competition.classes, Segmented(np.arange(len(images), dtype=np.int32)))
    counts = LabelMapCounts(confusion.by_image(), None)
    evidence = evidence_of(entry, None, load(edition), ImageSet(tuple(images)), counts)
    weights, replicates = drawn(images)
    metric = competition.rules.metric
    measure = segmentation.pixel_accuracy if metric is Metric.PIXEL_ACCURACY else segmentation.intersection_over_union
    scores = scores_of(evidence, metric, competition, edition, weights)
    for label, name in enumerate(("background", *competition.classes)):
        expected = []
        for times in replicates:
            copies = [number for number, image in enumerate(images) for _ in range(times[image])]
            value = measure([truths[number] for number in copies], [results[number] for number in copies], label)
            expected.append(np.nan if value is None else value)
        assert np.array_equal(scores[name], expected, equal_nan=True)


def copies_of(rows: list[Row], times: Times) -> list[Row]:
    """Copy layouts, or people, with their images."""
    return copied(rows, times, lambda row: row.image, lambda row, name: replace(row, image=name))


def copied_parts(
    found: list[layout.Layout], people: list[layout.Person], times: Times, name: str
) -> tuple[list[str], int]:
    """Copies of a part follow each other, so copies of a layout cannot be ranked as wholes."""
    ranked, marks, before = layout.by_confidence(found), [], 0
    for number, one in enumerate(ranked, start=1):
        so_far, _ = layout.parts(ranked[:number], people, name)
        marks += [mark for mark in so_far[before:] for _ in range(times[one.image])]
        before = len(so_far)
    return marks, layout.parts([], copies_of(people, times), name)[1]


@pytest.mark.parametrize("year", [2007, 2008, 2009, 2010, 2012])
@pytest.mark.parametrize("seed", seeds(20))
def test_layout(year: int, seed: int) -> None:
    found, people = of_layout.random_case(seed)
    edition = load(f"VOC{year}")
    competition = competition_of(edition.name, Task.LAYOUT)
    layouts, truth = of_layout.layouts_of(found, by_box=year == 2007), of_layout.truth_of(people)
    images = of_layout.IMAGES
    entry = Entry(competition, competition.classes, layouts)
    evidence = evidence_of(entry, truth, edition, ImageSet(tuple(images)), None)
    weights, replicates = drawn(images)

    def case(times: Times) -> tuple[list[layout.Layout], list[layout.Person]]:
        return copies_of(found, times), copies_of(people, times)

    def whole(times: Times) -> tuple[list[str], int]:
        results, true = case(times)
        if year == 2007:
            return layout.whole_person_by_box(results, true)
        ranked = results if year == 2008 else layout.by_confidence(results)
        return layout.whole_person_by_index(ranked, true, single_part_may_be_right=False)

    rules = competition.rules
    scores = scores_of(evidence, rules.metric, competition, edition.name, weights)
    if year < 2010:
        same(scores["person"], (average_precision.average_precision(*whole(times), rules) for times in replicates))
    else:
        for name in layout.PARTS:
            parts = (copied_parts(found, people, times, name) for times in replicates)
            same(scores[name], (average_precision.area(*each) for each in parts))
    for metric in rules.secondary:

        def secondary(times: Times, metric: Metric = metric) -> float | None:
            results, true = case(times)
            single = metric is Metric.WHOLE_PERSON_AVERAGE_PRECISION
            marks = layout.whole_person_by_index(layout.by_confidence(results), true, single_part_may_be_right=single)
            return average_precision.average_precision(*marks, rules)

        own = scores_of(evidence, metric, competition, edition.name, weights)
        same(own["person"], map(secondary, replicates))


def test_copies_of_an_image_have_names_of_their_own() -> None:
    assert tuples([("a", 1), ("b", 2)], {"a": 2, "b": 0}) == [(copy_name("a", 0), 1), (copy_name("a", 1), 1)]
