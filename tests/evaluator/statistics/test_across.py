"""What several methods find, against plainly written references on made-up results with ties."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from vocboard.evaluator.editions import load
from vocboard.evaluator.evidence.evidence import ClassEvidence, EvidenceByClass
from vocboard.evaluator.evidence.pixels import SegmentationEvidence
from vocboard.evaluator.evidence.ranked_evidence import JudgedResults, LabelledItems, MatchedResults
from vocboard.evaluator.metrics.confusion_matrix import ImageConfusions
from vocboard.evaluator.names import Metric
from vocboard.evaluator.statistics.across import agreement, combined, difficulty
from vocboard.evaluator.statistics.found import found, positive_images

EDITION = load("VOC2012")
IMAGES = 60
RANDOM = np.random.default_rng(12)


def labelled(labels: np.ndarray, confidence: np.ndarray) -> LabelledItems:
    rank = np.argsort(-confidence, kind="stable")
    return LabelledItems(rank.astype(np.int32), confidence[rank], labels[rank].astype(np.int8))


def of_class(evidence: ClassEvidence, images: int, competition: str) -> np.ndarray:
    rules = EDITION.competitions[competition]
    return found(EvidenceByClass(images, {"a": evidence}), EDITION, rules)["a"]


def positives_of(evidence: ClassEvidence, images: int, competition: str) -> int:
    rules = EDITION.competitions[competition]
    return positive_images(EvidenceByClass(images, {"a": evidence}), EDITION, rules)["a"]


def methods(number: int, seed: int = 3) -> tuple[np.ndarray, list[np.ndarray]]:
    """Labels of images, and confidences of so many methods, many of which are equal."""
    random = np.random.default_rng(seed)
    labels = random.choice([1, 0, -1], IMAGES, p=[0.3, 0.1, 0.6])
    return labels, [np.round(labels + random.normal(0, 1.2, IMAGES), 1) for _ in range(number)]


def test_images_and_people_are_found_among_the_first() -> None:
    image = RANDOM.integers(0, 20, 50)  # several people in an image
    label = RANDOM.choice([1, 0, -1], 50)
    items = LabelledItems(image.astype(np.int32), -np.arange(50.0), label.astype(np.int8))
    left, counts = int((label == 1).sum()), {n: [0, 0] for n in range(20)}
    for where, what in zip(image.tolist(), label.tolist(), strict=True):
        counts[where][0] += what == 1
        if what != 0 and left > 0:
            left -= 1
            counts[where][1] += what == 1
    expected = [right / total if total else math.nan for total, right in counts.values()]
    np.testing.assert_array_equal(of_class(items, 20, "comp9"), expected)
    assert positives_of(items, 20, "comp9") == sum(total > 0 for total, _ in counts.values())


@pytest.mark.parametrize("metric", [Metric.AVERAGE_PRECISION, Metric.AVERAGE_PRECISION_WITH_DIFFICULT])
def test_objects_are_found_by_the_first_detections(metric: Metric) -> None:
    competition = EDITION.competitions["comp3"]
    competition = replace(competition, rules=replace(competition.rules, metric=metric))
    objects = RANDOM.integers(0, 15, 30)
    difficult = RANDOM.random(30) < 0.2
    which = RANDOM.integers(0, 30, 80)
    overlap = RANDOM.random(80)
    results = MatchedResults(
        objects[which].astype(np.int32),
        -np.arange(80.0),
        which.astype(np.int32),
        overlap,
        objects.astype(np.int32),
        difficult,
    )
    evidence = EvidenceByClass(15, {"a": results})
    if metric is Metric.AVERAGE_PRECISION_WITH_DIFFICULT:
        difficult = np.zeros(30, dtype=bool)
    left, taken, right = int((~difficult).sum()), set[int](), dict.fromkeys(range(15), 0)
    for thing, shared in zip(which.tolist(), overlap.tolist(), strict=True):
        hits = shared >= 0.5
        if (hits and difficult[thing]) or not left:
            continue
        left -= 1
        if hits and thing not in taken:
            taken.add(thing)
            right[int(objects[thing])] += 1
    total = {n: int(((objects == n) & ~difficult).sum()) for n in range(15)}
    expected = [right[n] / total[n] if total[n] else math.nan for n in range(15)]
    np.testing.assert_array_equal(found(evidence, EDITION, competition)["a"], expected)
    assert positive_images(evidence, EDITION, competition)["a"] == sum(number > 0 for number in total.values())


def test_layouts_and_pixels_are_found() -> None:
    judged = JudgedResults(
        np.array([0, 1, 1, 3], dtype=np.int32),
        np.array([True, False, True, True]),
        np.array([False, True, False, False]),
        np.array([0, 1, 1], dtype=np.int32),
    )
    np.testing.assert_array_equal(of_class(judged, 4, "comp7"), [1, 0.5, math.nan, math.nan])
    assert positives_of(judged, 4, "comp7") == 2
    arrays = [np.array(values) for values in ([0, 0, 0, 1], [0, 1, 1, 1], [0, 1, 0, 0], [5, 3, 1, 4])]
    image, true, result, pixels = arrays
    confusions = ImageConfusions(
        image.astype(np.int32), true.astype(np.uint8), result.astype(np.uint8), pixels.astype(np.int64)
    )
    evidence = SegmentationEvidence(3, ("aeroplane",), confusions)
    segmentation = EDITION.competitions["comp5"]
    shares = found(evidence, EDITION, segmentation)
    np.testing.assert_array_equal(shares["background"], [1, math.nan, math.nan])
    np.testing.assert_array_equal(shares["aeroplane"], [0.75, 0, math.nan])
    assert positive_images(evidence, EDITION, segmentation) == {"background": 1, "aeroplane": 2}


def test_difficulty() -> None:
    shares_of = [
        {
            name: np.where(RANDOM.random(IMAGES) < 0.4, RANDOM.integers(0, 4, IMAGES) / 3, math.nan)
            for name in ("a", "b")
        }
    ]
    for _ in range(4):
        shares_of.append(
            {
                name: np.where(np.isnan(one), one, RANDOM.integers(0, 4, IMAGES) / 3)
                for name, one in shares_of[0].items()
            }
        )
    shares_of[0]["rare"] = np.where(np.arange(IMAGES) < 9, 1.0, math.nan)
    for other in shares_of[1:]:
        other["rare"] = shares_of[0]["rare"]
    answer = difficulty(shares_of)
    bins = [0] * 10
    for image in range(IMAGES):
        by_class = [
            sum(Fraction(float(one[name][image])).limit_denominator(3) for one in shares_of) / len(shares_of)
            for name in shares_of[0]
            if not math.isnan(shares_of[0][name][image])
        ]
        if not by_class:
            assert math.isnan(answer.images[image])
            continue
        mean = sum(by_class) / len(by_class)
        assert answer.images[image] == pytest.approx(float(mean))
        bins[max(math.ceil(mean * 10) - 1, 0)] += 1
    assert answer.histogram == bins
    assert set(answer.classes) == {"a", "b"}
    of_a = np.array([one["a"] for one in shares_of])
    shown = [list(column) for column in of_a.T if not math.isnan(column[0])]
    one = answer.classes["a"]
    assert one.images == len(shown)
    assert one.found == pytest.approx(np.mean(shown))
    assert one.by_none == pytest.approx(sum(max(column) == 0 for column in shown) / len(shown))
    assert one.by_all == pytest.approx(sum(min(column) == 1 for column in shown) / len(shown))


def test_agreement_is_the_phi_coefficient_of_what_is_found() -> None:
    present = RANDOM.random(IMAGES) < 0.7
    flags = [RANDOM.random(IMAGES) < 0.6 for _ in range(3)] + [np.ones(IMAGES, dtype=bool)]
    answer = agreement([{"a": np.where(present, flag.astype(float), math.nan)} for flag in flags])
    for one in range(3):
        for other in range(3):
            a, b = flags[one][present], flags[other][present]
            both, neither = int((a & b).sum()), int((~a & ~b).sum())
            first, second = int((a & ~b).sum()), int((~a & b).sum())
            margins = (both + first) * (second + neither) * (both + second) * (first + neither)
            assert answer[one, other] == pytest.approx((both * neither - first * second) / math.sqrt(margins))
    assert np.isnan(answer[3]).all()
    assert np.isnan(answer[:, 3]).all()
    assert np.isnan(agreement([{"a": np.full(IMAGES, math.nan)}] * 2)).all()


def test_a_combination_ranks_by_the_mean_of_normalised_ranks() -> None:
    labels, confidences = methods(4)
    evidence = [EvidenceByClass(IMAGES, {"car": labelled(labels, one)}) for one in confidences]
    found = combined(evidence)

    def rank(values: list[float], image: int) -> Fraction:
        better = sum(value > values[image] for value in values)
        same = sum(value == values[image] for value in values)
        return (better + Fraction(same - 1, 2)) / (IMAGES - 1)

    expected = [sum(rank(one.tolist(), image) for one in confidences) / 4 for image in range(IMAGES)]
    car = found.classes["car"]
    assert sorted(car.image.tolist()) == list(range(IMAGES))
    np.testing.assert_allclose(-car.confidence, [float(expected[image]) for image in car.image])
    assert (np.diff(car.confidence) <= 0).all()
    np.testing.assert_array_equal(car.label, labels[car.image])


def test_results_that_cannot_be_matched_are_not_combined() -> None:
    people = LabelledItems(np.array([0, 0], dtype=np.int32), np.array([0.9, 0.1]), np.array([1, -1], dtype=np.int8))
    assert combined([EvidenceByClass(2, {"running": people})] * 2) is None
