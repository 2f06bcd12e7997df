"""Detection: judged as the reference implementation does, and the cases that change numbers."""

import random
import tracemalloc

import numpy as np
import pytest

from tests.evaluator.random_boxes import near, random_box
from tests.evaluator.reference import average_precision
from tests.evaluator.reference import detection as reference
from tests.support.seeds import seeds
from vocboard.evaluator.editions import Metric, Task, load
from vocboard.evaluator.ground_truth import DetectionTruth
from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.results import Detections, Entry
from vocboard.evaluator.scores import CompetitionScores, Curve
from vocboard.evaluator.tasks.detection.scoring import DetectionScorer

IMAGES = ["a", "b", "c", "d"]
CLASSES = ("aeroplane", "person", "tvmonitor")  # the last without positives


def truth_of(objects: dict[str, list[reference.Object]], edition: str) -> DetectionTruth:
    classes = load(edition).classes
    flat = [
        (IMAGES.index(image), classes.index(name), box, difficult)
        for name, found in objects.items()
        for image, box, difficult in found
    ]
    flat.sort(key=lambda row: row[0])
    return DetectionTruth(
        image=np.array([row[0] for row in flat], dtype=np.int32),
        class_index=np.array([row[1] for row in flat], dtype=np.int16),
        box=np.array([row[2] for row in flat], dtype=np.float64).reshape(-1, 4),
        difficult=np.array([row[3] for row in flat], dtype=np.bool_),
    )


def detections_of(found: list[reference.Detection]) -> Detections:
    return Detections(
        image=np.array([IMAGES.index(image) for image, _, _ in found], dtype=np.int32),
        confidence=np.array([confidence for _, confidence, _ in found], dtype=np.float64),
        box=np.array([box for _, _, box in found], dtype=np.float64).reshape(-1, 4),
    )


def score(
    edition: str, found: dict[str, list[reference.Detection]], objects: dict[str, list[reference.Object]]
) -> CompetitionScores:
    content = {name: detections_of(rows) for name, rows in found.items()}
    competition = next(item for item in load(edition).competitions.values() if item.task is Task.DETECTION)
    entry = Entry(competition, tuple(found), content)
    return DetectionScorer().score(entry, truth_of(objects, edition), load(edition), ImageSet(tuple(IMAGES)), None)


def random_case(
    seed: int, classes: tuple[str, ...] = CLASSES
) -> tuple[dict[str, list[reference.Detection]], dict[str, list[reference.Object]]]:
    chance = random.Random(seed)
    objects: dict[str, list[reference.Object]] = {name: [] for name in classes}
    for name in classes:
        for image in sorted(chance.choices(IMAGES, k=chance.randrange(8))):
            objects[name].append((image, random_box(chance), name == classes[-1] or chance.random() < 0.3))
    found = {}
    for name in classes:
        rows = []
        for _ in range(chance.randrange(25)):
            image = chance.choice(IMAGES)
            here = [box for where, box, _ in objects[name] if where == image]
            box = near(chance.choice(here), chance) if here else random_box(chance)
            rows.append((image, chance.choice([0.1, 0.5, 0.5, 0.9, chance.random()]), box))
        found[name] = rows
    return found, objects


@pytest.mark.parametrize("edition", ["VOC2005", "VOC2006", "VOC2007", "VOC2009", "VOC2012", "ParallelEye"])
@pytest.mark.parametrize("seed", seeds(120))
def test_scores_as_the_reference_implementation_does(edition: str, seed: int) -> None:
    known = load(edition)
    found, objects = random_case(seed, known.classes[:3])
    scores = score(edition, found, objects)
    rules = next(item.rules for item in known.competitions.values() if item.task is Task.DETECTION)
    strict, excuses_one = known.overlap.strict, rules.repeats_on_difficult_are_false
    secondary = {measure.metric: measure.per_class for measure in scores.secondary}
    for name in found:
        marks, positives = reference.marks(
            found[name], objects[name], with_difficult=False, must_exceed=strict, difficult_excuses_one=excuses_one
        )
        expected = average_precision.average_precision(marks, positives, rules)
        assert scores.primary.per_class[name] == pytest.approx(
            expected if expected is not None else np.nan, abs=1e-12, nan_ok=True
        )
        if Metric.AVERAGE_PRECISION_AREA in secondary:
            area = average_precision.area(marks, positives)
            area = area if area is not None else np.nan
            assert secondary[Metric.AVERAGE_PRECISION_AREA][name] == pytest.approx(area, nan_ok=True)

        if Metric.AVERAGE_PRECISION_WITH_DIFFICULT in secondary:
            every_mark, every = reference.marks(found[name], objects[name], with_difficult=True)
            expected = average_precision.average_precision(every_mark, every, rules)
            with_difficult = secondary[Metric.AVERAGE_PRECISION_WITH_DIFFICULT][name]
            assert with_difficult == pytest.approx(expected if expected is not None else np.nan, nan_ok=True)

        details, kept = scores.details[name], scores.curves[name]
        assert (details.positives, details.results) == (positives, len(found[name]))
        assert details.difficult == marks.count("ignored")
        assert isinstance(kept, Curve)
        curve = [
            (None if np.isnan(r) else r, None if np.isnan(p) else p)
            for r, p in zip(kept.recall, kept.precision, strict=True)
        ]
        assert curve == average_precision.precision_recall(marks, positives)
    defined = [value for value in scores.primary.per_class.values() if not np.isnan(value)]
    mean = np.mean(defined) if defined else np.nan
    assert scores.primary.mean == pytest.approx(mean, abs=1e-12, nan_ok=True)
    assert scores.primary.mean_over == len(defined)


@pytest.mark.parametrize(
    ("edition", "defined"),
    [("VOC2005", False), ("VOC2006", True), ("VOC2007", True), ("VOC2009", True), ("VOC2010", False)],
)
def test_a_class_without_positives_scores_0_where_the_kit_says_so_and_is_undefined_elsewhere(
    edition: str, defined: bool
) -> None:
    empty, full = load(edition).classes[:2]
    scores = score(edition, {empty: [], full: [("a", 1.0, WHOLE)]}, {empty: [], full: [("a", WHOLE, False)]})
    assert scores.primary.as_json() == {
        "per_class": {empty: 0.0 if defined else None, full: 1.0},
        "mean": 0.5 if defined else 1.0,
        "mean_over": 2 if defined else 1,
    }


WHOLE = (1.0, 1.0, 10.0, 10.0)
HALF = (1.0, 1.0, 10.0, 5.0)
LESS_THAN_HALF = (1.0, 1.0, 10.0, 4.99)


def precision_of(
    found: list[reference.Detection], objects: list[reference.Object], edition: str = "VOC2012", name: str = "person"
) -> list[float]:
    curve = score(edition, {name: found}, {name: objects}).curves[name]
    assert isinstance(curve, Curve)
    return curve.precision.tolist()


def test_an_overlap_of_exactly_one_half_is_too_little_where_it_must_exceed_that() -> None:
    assert precision_of([("a", 1.0, HALF)], [("a", WHOLE, False)], "ParallelEye", "Car") == [0.0]
    assert precision_of([("a", 1.0, WHOLE)], [("a", WHOLE, False)], "ParallelEye", "Car") == [1.0]


def test_in_2006_a_repeated_detection_of_a_difficult_object_is_false_and_in_other_years_ignored() -> None:
    found, objects = (
        [("a", 0.9, WHOLE), ("a", 0.8, WHOLE), ("b", 0.7, WHOLE)],
        [("a", WHOLE, True), ("b", WHOLE, False)],
    )
    assert precision_of(found, objects, "VOC2006")[1:] == [0.0, 0.5]
    assert precision_of(found, objects, "VOC2007")[2] == 1.0


def test_an_overlap_of_exactly_one_half_is_enough() -> None:
    assert precision_of([("a", 1.0, HALF)], [("a", WHOLE, False)]) == [1.0]
    assert precision_of([("a", 1.0, LESS_THAN_HALF)], [("a", WHOLE, False)]) == [0.0]


def test_a_repeated_detection_does_not_fall_back_to_another_object_it_overlaps() -> None:
    objects = [("a", WHOLE, False), ("a", (1.0, 1.0, 10.0, 8.0), False)]
    assert precision_of([("a", 0.9, WHOLE), ("a", 0.8, WHOLE)], objects) == [1.0, 0.5]


def test_of_equal_overlaps_the_first_object_counts() -> None:
    objects = [("a", WHOLE, True), ("a", WHOLE, False)]  # the difficult one stands first
    assert np.isnan(precision_of([("a", 0.9, WHOLE)], objects)).all()


def test_ties_keep_the_order_of_the_file() -> None:
    apart = (50.0, 50.0, 60.0, 60.0)
    assert precision_of([("a", 0.5, apart), ("a", 0.5, WHOLE)], [("a", WHOLE, False)]) == [0.0, 0.5]


def test_confidences_are_not_rounded_before_ranking() -> None:
    apart = (50.0, 50.0, 60.0, 60.0)
    rows = [("a", 0.5, apart), ("a", np.nextafter(0.5, 1), WHOLE)]
    assert precision_of(rows, [("a", WHOLE, False)]) == [1.0, 0.5]


def test_a_class_that_was_not_entered_is_not_scored() -> None:
    scores = score("VOC2012", {"person": []}, {"person": [("a", WHOLE, False)], "bus": [("a", WHOLE, False)]})
    assert set(scores.primary.per_class) == {"person"}
    assert "bus" in scores.not_entered
    assert "person" not in scores.not_entered


def test_an_empty_file_scores_zero() -> None:
    for edition in ("VOC2007", "VOC2012"):
        scores = score(edition, {"person": []}, {"person": [("a", WHOLE, False)]})
        assert scores.primary.per_class == {"person": 0.0}
        assert scores.details["person"].final_recall == 0.0


def test_results_that_only_meet_difficult_objects_score_zero_not_nan() -> None:
    objects = [("a", WHOLE, True), ("b", WHOLE, False)]
    for edition in ("VOC2007", "VOC2012"):
        scores = score(edition, {"person": [("a", 0.5, WHOLE)]}, {"person": objects})
        assert scores.primary.per_class == {"person": 0.0}


def test_scores_do_not_depend_on_how_many_pairs_are_compared_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    found, objects = random_case(3)
    at_once = score("VOC2012", found, objects)
    monkeypatch.setattr("vocboard.evaluator.metrics.boxes.pairs_within_groups.__defaults__", (7,))
    assert score("VOC2012", found, objects).primary.per_class == pytest.approx(at_once.primary.per_class, nan_ok=True)


def test_memory_stays_bounded_when_many_detections_meet_many_objects() -> None:
    """Ten million pairs would take a gigabyte at once."""
    objects = {"person": [("a", (x, 1, x + 9, 9), False) for x in range(1, 501)]}
    found = {"person": [("a", 1.0 - x / 20_000, (x % 500 + 1, 1, x % 500 + 10, 9)) for x in range(20_000)]}
    tracemalloc.start()
    try:
        scores = score("VOC2012", found, objects)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert scores.primary.per_class["person"] == 1.0
    assert most < 200_000_000
