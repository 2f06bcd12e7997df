"""Rankings: the receiver operating characteristic, and the order of ties."""

import math
import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.evaluator.reference import roc as reference
from tests.support.seeds import seeds
from vocboard.app.evaluations.curves import plot_points
from vocboard.evaluator.editions import Metric, RocRule, load
from vocboard.evaluator.ground_truth import Labels, LabelTruth
from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.metrics.precision_recall import by_confidence, first_of_each
from vocboard.evaluator.metrics.roc import RankedItems
from vocboard.evaluator.results import Confidences, Entry
from vocboard.evaluator.scores import CompetitionScores, RocCurve
from vocboard.evaluator.tasks.classification.scoring import ClassificationScorer

CLASSES = load("VOC2005").classes


def score(classes: dict[str, list[reference.Item]], edition: str = "VOC2005") -> CompetitionScores:
    """Score lists of (confidence, label); −∞ is for an item without a line."""
    content, truth = {}, {}
    for name, items in classes.items():
        lines = [index for index, (confidence, _) in enumerate(items) if confidence != -math.inf]
        random.Random(len(items)).shuffle(lines)  # the order of the file must not matter
        content[name] = Confidences(
            item=np.array(lines, dtype=np.int32), confidence=np.array([items[index][0] for index in lines], dtype=float)
        )
        truth[name] = Labels(
            item=np.arange(len(items), dtype=np.int32), label=np.array([label for _, label in items], dtype=np.int8)
        )
    rules = load(edition)
    images = ImageSet(tuple(f"{number:06}" for number in range(max(map(len, classes.values()), default=0))))
    entry = Entry(rules.competitions["comp1"], tuple(classes), content)
    return ClassificationScorer().score(entry, LabelTruth(truth), rules, images, None)


def random_items(chance: random.Random) -> list[reference.Item]:
    """Ties all the time, missing confidences, sometimes only one kind of label, or nothing at all."""
    labels = chance.choice([[1, -1], [1, -1, -1, -1], [1, -1, 0], [1], [-1], [0]])
    values = chance.choice([[0.5], [0.1, 0.5, 0.9, -math.inf], [number / 50 for number in range(50)]])
    return [(chance.choice(values), chance.choice(labels)) for _ in range(chance.randrange(30))]


@pytest.mark.parametrize("block", seeds(10))
def test_scores_a_thousand_random_cases_as_the_reference_implementation_does(block: int) -> None:
    for seed in range(100 * block, 100 * block + 100):
        chance = random.Random(seed)
        classes = {name: random_items(chance) for name in CLASSES}
        scores = score(classes)
        [secondary] = scores.secondary
        assert (scores.primary.metric, secondary.metric) == (Metric.ROC_AUC, Metric.EQUAL_ERROR_RATE)
        for name, items in classes.items():
            area, accuracy = reference.area(items), reference.equal_error_accuracy(items)
            assert scores.primary.per_class[name] == pytest.approx(_float(area), abs=1e-12, nan_ok=True), seed
            assert secondary.per_class[name] == pytest.approx(_float(accuracy), abs=1e-12, nan_ok=True), seed
            curve = scores.curves[name]
            assert isinstance(curve, RocCurve)
            if area is not None:
                found = list(zip(curve.false_positive_rate, curve.true_positive_rate, strict=True))
                assert found == [(float(x), float(y)) for x, y in reference.points(items)], seed


@pytest.mark.parametrize("block", seeds(5))
def test_scores_random_cases_of_2006_as_the_reference_implementation_does(block: int) -> None:
    for seed in range(100 * block, 100 * block + 100):
        chance = random.Random(seed)
        classes = {name: random_items(chance) for name in load("VOC2006").classes}
        for name, found in score(classes, edition="VOC2006").primary.per_class.items():
            area = reference.area_under_envelope(classes[name])
            assert found == pytest.approx(_float(area), abs=1e-12, nan_ok=True), seed


@pytest.mark.parametrize("edition", ["VOC2005", "VOC2006"])
@given(
    items=st.lists(
        st.tuples(st.sampled_from([0.1, 0.5, 0.9, 1e30, -math.inf]), st.sampled_from([1, -1, 0])), max_size=30
    ),
    data=st.data(),
)
def test_no_score_depends_on_the_order_of_tied_items(
    edition: str, items: list[reference.Item], data: st.DataObject
) -> None:
    [name, *_] = load(edition).classes
    scores = score({name: items}, edition)
    again = score({name: data.draw(st.permutations(items))}, edition)
    for measure, other in zip((scores.primary, *scores.secondary), (again.primary, *again.secondary), strict=True):
        assert measure.per_class[name] == pytest.approx(other.per_class[name], abs=0, rel=0, nan_ok=True)


@pytest.mark.parametrize("edition", ["VOC2005", "VOC2006"])
def test_the_area_under_the_curve_as_it_is_drawn_is_the_score(edition: str) -> None:
    for seed in range(100):
        items = [*random_items(random.Random(seed)), (0.5, 1), (0.1, -1)]
        [name, *_] = load(edition).classes
        scores = score({name: items}, edition)
        points = plot_points(scores.curves[name], 15)
        drawn = sum((right[0] - left[0]) * (left[1] + right[1]) / 2 for left, right in pairwise(points))
        assert scores.primary.per_class[name] == pytest.approx(drawn, abs=1e-12)


def test_a_perfect_ranking_scores_one_and_a_reversed_one_zero() -> None:
    scores = score({"cars": [(0.9, 1), (0.8, 1), (0.2, -1)], "people": [(0.9, -1), (0.8, -1), (0.2, 1)]})
    assert dict(scores.primary.per_class) == {"cars": 1.0, "people": 0.0}
    assert dict(scores.secondary[0].per_class) == {"cars": 1.0, "people": 0.0}


def test_the_equal_error_rate_is_an_accuracy_where_both_errors_are_equally_frequent() -> None:
    # One of four positives missed while one of four negatives is accepted.
    items = [(0.9, 1), (0.8, 1), (0.7, -1), (0.6, 1), (0.5, -1), (0.4, 1), (0.3, -1), (0.2, -1)]
    assert score({"cars": items}).secondary[0].per_class["cars"] == 0.75


def test_one_confidence_for_all_cannot_be_distinguished_from_guessing_by_its_equal_error_rate() -> None:
    items = [(0.5, 1), (0.5, -1), (0.5, -1)]
    assert score({"cars": items}).secondary[0].per_class["cars"] == 0.5
    assert score({"cars": items[::-1]}).secondary[0].per_class["cars"] == 0.5


@pytest.mark.parametrize("labels", [(1, -1), (-1, 1)])
def test_a_tie_of_a_positive_and_a_negative_is_worth_one_half_in_2005_and_nothing_in_2006(
    labels: tuple[int, int],
) -> None:
    items = [(0.5, label) for label in labels]
    assert score({"cars": items}).primary.per_class["cars"] == 0.5
    assert score({"bus": items}, edition="VOC2006").primary.per_class["bus"] == 0.0


def test_an_image_without_a_line_is_below_every_confidence() -> None:
    assert score({"cars": [(-1e30, 1), (-math.inf, -1)]}).primary.per_class["cars"] == 1.0


@pytest.mark.parametrize("labels", [[1, 1], [-1, -1], [0, 0], []])
def test_without_positives_or_without_negatives_it_is_undefined_and_no_part_of_the_mean(labels: list[int]) -> None:
    scores = score({"cars": [(0.1 * rank, label) for rank, label in enumerate(labels)], "people": [(1, 1), (0, -1)]})
    for measure in (scores.primary, *scores.secondary):
        assert math.isnan(measure.per_class["cars"])
        assert (measure.mean, measure.mean_over) == (1.0, 1)
    assert scores.as_json()["per_class"]["cars"] is None


def test_2006_has_the_area_alone() -> None:
    scores = score({"bus": [(0.9, 1), (0.2, -1)]}, edition="VOC2006")
    assert scores.primary.metric is Metric.ROC_AUC
    assert scores.secondary == ()


def test_the_envelope_goes_right_then_up_below_the_curve() -> None:
    positive = np.array([True, False, False, True, True, False])
    items = RankedItems(np.arange(6.0)[::-1], positive, ~positive)
    envelope = items.curve(RocRule.LOWER_ENVELOPE)
    corners = list(zip(envelope.false_positive_rate, envelope.true_positive_rate, strict=True))
    assert list(dict.fromkeys(corners)) == [(0, 0), (0, 1 / 3), (2 / 3, 1 / 3), (2 / 3, 2 / 3), (2 / 3, 1), (1, 1)]


def _float(value: object) -> float:
    return math.nan if value is None else float(value)  # type: ignore[arg-type]  # a Fraction


finite = st.floats(allow_nan=False, allow_infinity=False)
few = st.sampled_from([0.0, -0.0, 0.1, 0.1 + 1e-16, 1.0, -np.inf, 5e-324, -1e30, 1.7e308, -1.7e308])


@given(st.lists(finite | few))
def test_ranks_are_those_of_a_stable_sort(confidences: list[float]) -> None:
    expected = sorted(range(len(confidences)), key=lambda place: -confidences[place])
    assert by_confidence(np.array(confidences)).tolist() == expected


@pytest.mark.parametrize("digits", [1, 3, 8, 17])
def test_many_rank_as_in_a_stable_sort(digits: int) -> None:
    confidence = np.round(np.random.default_rng(digits).beta(1, 6, 100_000), digits)
    confidence[::7] = -np.inf
    assert np.array_equal(by_confidence(confidence), np.argsort(-confidence, kind="stable"))


@given(st.lists(st.integers(0, 9)))
def test_the_first_of_each_is_where_it_occurs_first(keys: list[int]) -> None:
    found = first_of_each(np.array(keys, dtype=np.int64))
    assert found.tolist() == [key not in keys[:place] for place, key in enumerate(keys)]
