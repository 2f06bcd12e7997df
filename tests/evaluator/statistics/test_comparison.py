"""Comparisons of methods: corrected for their number, on the same replicates, in the direction of the metric."""

import itertools
import math

import numpy as np
import pytest

from tests.evaluator.statistics.test_sequence import IMAGES, scored
from vocboard.evaluator.evidence.weights import draw_weights
from vocboard.evaluator.statistics.compared import corrected_for_classes
from vocboard.evaluator.statistics.comparison import Comparison, compare, compare_pairs
from vocboard.evaluator.statistics.influence import ERROR_ALLOWANCE, influences, student_quantile
from vocboard.evaluator.statistics.intervals import ReplicatedScore
from vocboard.evaluator.statistics.simultaneous import changes, minus, minus_independent

INFLUENCE = np.ones(100, dtype=np.float32)  # that all images have the same: that of a difference is 0


def noisy(score: float, noise: np.ndarray) -> ReplicatedScore:
    return ReplicatedScore(score, score + noise, INFLUENCE)


def methods(number: int, *, gap: float, noise: float = 0.01, shared: float = 0.05) -> dict[str, ReplicatedScore]:
    """Return methods with scores that are so far apart, the best last."""
    random = np.random.default_rng(1)
    common = random.normal(0, shared, 1_000)  # replicates that are hard for all
    return {str(n): noisy(0.5 + gap * n, common + random.normal(0, noise, 1_000)) for n in range(number)}


def test_what_is_hard_for_all_methods_cancels() -> None:
    found = compare(methods(2, gap=0.05))
    assert found.methods == ("1", "0")
    assert found.differences["1", "0"].is_significant  # though the intervals of both overlap
    assert found.differences["1", "0"].difference == pytest.approx(0.05)
    assert found.first_group == ("1",)
    assert found.rank_ranges == {"1": (1, 1), "0": (2, 2)}


def test_ranks_and_the_first_group_of_methods_of_which_some_differ() -> None:
    scores = methods(4, gap=0.02)
    found = compare(scores)
    assert found.methods == ("3", "2", "1", "0")
    significant = {pair for pair, each in found.differences.items() if each.is_significant}
    assert significant == {("3", "1"), ("3", "0"), ("2", "0")}
    assert found.first_group == ("3", "2")
    assert found.rank_ranges == {"3": (1, 2), "2": (1, 3), "1": (2, 4), "0": (3, 4)}


def test_the_first_group_does_not_depend_on_the_order_of_equal_methods() -> None:
    """A third method differs from one of two equal ones, and not from the other."""
    random = np.random.default_rng(1)
    common = random.normal(0, 0.05, 1_000)
    near, far = common + random.normal(0, 0.005, 1_000), random.normal(0, 0.05, 1_000)
    scores = {"near": noisy(0.6, near), "far": noisy(0.6, far), "third": noisy(0.55, common)}
    for order in (("near", "far", "third"), ("far", "near", "third")):
        given = {name: scores[name] for name in order}
        found, pairs = compare(given), compare_pairs(given)
        assert found.differences["near", "third"].is_significant
        assert not found.differences["far", "third"].is_significant
        assert found.first_group == pairs.first_group == (*order,)


def test_lower_can_be_better() -> None:
    scores = methods(4, gap=0.02)
    found = compare(scores, higher_is_better=False)
    assert found.methods == ("0", "1", "2", "3")
    assert found.first_group == ("0", "1")
    assert found.rank_ranges["0"] == (1, 2)
    assert found.rank_shares[0, 0] > 0.5


@pytest.mark.parametrize("noise", [0.0, 1e-17])
def test_a_difference_that_no_replicate_changes_is_not_significant(noise: float) -> None:
    """As of methods that differ in a single image, which is in every replicate that defines their scores."""
    random = np.random.default_rng(1)
    found = compare(
        {name: noisy(score, random.normal(0, noise, 1_000)) for name, score in (("one", 1.0), ("two", 0.0))}
    )
    [difference] = found.differences.values()
    assert (difference.difference, difference.p_value, difference.is_significant) == (1.0, 1.0, False)
    assert found.rank_ranges == {"one": (1, 2), "two": (1, 2)}


def test_few_replicates_are_refused() -> None:
    scores = {name: noisy(0.5, np.arange(99.0)) for name in ("one", "two")}
    with pytest.raises(ValueError, match="fewer than 100 replicates"):
        compare(scores)


def test_equal_results_do_not_differ_and_share_their_rank() -> None:
    [score] = methods(1, gap=0).values()
    found = compare({"one": score, "other": score})
    assert found.differences["one", "other"].as_json() == {
        "difference": 0.0,
        "low": 0.0,
        "high": 0.0,
        "p_value": 1.0,
        "significant": False,
    }
    assert found.rank_shares.tolist() == [[1, 0], [1, 0]]
    assert found.rank_ranges == {"one": (1, 2), "other": (1, 2)}


def test_a_pair_differs_exactly_if_its_corrected_p_value_is_small() -> None:
    for seed in range(20):
        random = np.random.default_rng(seed)
        scores = {str(n): noisy(random.normal(0.5, 0.02), random.normal(0, 0.01, 100 + seed)) for n in range(12)}
        for each in compare(scores).differences.values():
            assert each.is_significant == (each.p_value <= 0.05)


def plain_critical_value(scores: dict[str, ReplicatedScore]) -> float:
    """Return the quantile of the largest deviation of any pair, replicate by replicate."""
    largest = []
    pairs = list(itertools.combinations(scores.values(), 2))
    errors = [np.std(one.replicates - other.replicates, ddof=1) for one, other in pairs]
    for replicate in range(len(pairs[0][0].replicates)):
        deviations = []
        for (one, other), error in zip(pairs, errors, strict=True):
            deviation = (one.replicates[replicate] - other.replicates[replicate]) - (one.score - other.score)
            deviations.append(abs(deviation) / error)
        largest.append(max(deviations))
    return sorted(largest)[math.ceil(0.95 * (len(largest) + 1)) - 1]


def test_intervals_are_those_of_a_plain_max_t_method() -> None:
    scores = methods(5, gap=0.01)
    [quantile] = student_quantile(np.array([plain_critical_value(scores)]), len(INFLUENCE)).tolist()
    critical = ERROR_ALLOWANCE * quantile
    for (one, other), found in compare(scores).differences.items():
        error = np.std(scores[one].replicates - scores[other].replicates, ddof=1)
        difference = scores[one].score - scores[other].score
        assert found.low == pytest.approx(difference - critical * error)
        assert found.high == pytest.approx(difference + critical * error)


def test_the_more_methods_the_wider_the_intervals() -> None:
    def width(found: Comparison) -> float:
        difference = next(iter(found.differences.values()))
        return difference.high - difference.low

    many = methods(30, gap=0.0)
    few = {name: many[name] for name in ("0", "1")}
    first, second = compare(many).differences, compare(few).differences
    assert width(compare(few)) < first["0", "1"].high - first["0", "1"].low
    assert first["0", "1"].p_value >= second["0", "1"].p_value


def test_replicates_that_do_not_define_all_scores_are_left_out() -> None:
    scores = methods(2, gap=0.05)
    with_gaps = scores["0"].replicates.copy()
    with_gaps[::10] = np.nan
    found = compare({"1": scores["1"], "0": ReplicatedScore(scores["0"].score, with_gaps, INFLUENCE)})
    assert found.differences["1", "0"].is_significant
    assert found.rank_shares.sum() == pytest.approx(2)


def test_one_method_is_alone() -> None:
    found = compare(methods(1, gap=0))
    assert (found.first_group, found.rank_ranges, found.differences) == (("0",), {"0": (1, 1)}, {})


@pytest.mark.parametrize(
    "scores",
    [
        {},
        {"a": ReplicatedScore(float("nan"), np.full(10, np.nan), INFLUENCE)},
        {
            "a": ReplicatedScore(0.5, np.array([0.5, np.nan]), INFLUENCE),
            "b": ReplicatedScore(0.5, np.array([np.nan, 0.5]), INFLUENCE),
        },
    ],
)
def test_undefined_scores_cannot_be_compared(scores: dict[str, ReplicatedScore]) -> None:
    with pytest.raises(ValueError, match=r"defined|define"):
        compare(scores)


def test_a_difference_that_depends_on_few_images_has_a_wider_interval_and_on_fewer_than_ten_none() -> None:
    scores = methods(2, gap=0.05)
    [usual] = compare(scores).differences.values()
    assert usual.is_significant

    def depending_on(images: int) -> Comparison:
        few = np.zeros(100, dtype=np.float32)
        few[:images] = 1
        return compare({**scores, "1": ReplicatedScore(scores["1"].score, scores["1"].replicates, INFLUENCE + few)})

    [wider] = depending_on(12).differences.values()
    assert wider.high - wider.low > 1.05 * (usual.high - usual.low)
    assert wider.p_value >= usual.p_value
    found = depending_on(5)
    [unknown] = found.differences.values()
    assert unknown.as_json() == {
        "difference": usual.difference, "low": None, "high": None, "p_value": 1.0, "significant": False,
    }  # fmt: skip
    assert found.rank_ranges == {"1": (1, 2), "0": (1, 2)}
    assert found.first_group == ("1", "0")


def test_classes_are_corrected_together_by_the_largest_deviation_in_any_of_them() -> None:
    """The replicates of classes are the same, so that a correction for both pairs and classes needs no more of them."""
    alone = {}
    for place in range(20):
        random = np.random.default_rng(place)
        scores = {name: noisy(0.5, random.normal(0, 0.01, 1_000)) for name in ("a", "b", "c")}
        if place == 0:  # better by 2.7 standard errors
            scores["a"] = ReplicatedScore(0.5 + 2.7 * 0.01 * np.sqrt(2), scores["a"].replicates + 0.0382, INFLUENCE)
        alone[str(place)] = compare(scores)
    found = corrected_for_classes(alone)
    assert alone["0"].differences["a", "b"].p_value < 0.05
    for name, each in found.items():
        for pair, difference in each.differences.items():
            assert difference.p_value_all_classes is not None
            assert difference.p_value == alone[name].differences[pair].p_value
            assert difference.p_value_all_classes >= max(0.05, difference.p_value)
            assert each.difference(*pair[::-1]).p_value_all_classes == difference.p_value_all_classes


REPETITIONS = 300
MORE = 260  # images of the other test set
MORE_WEIGHTS = draw_weights(MORE)


def test_the_error_of_independent_scores_is_that_of_both() -> None:
    """Also of two test sets of as many images, of which each replicate draws the same places."""
    right = (np.random.default_rng(2).random(IMAGES) < 0.6).astype(np.float64)
    one = scored(right)
    assert minus(one, one).replicates.std() == 0  # as if they were the same images
    both = minus_independent(one, one)
    expected = math.sqrt(2) * one.interval().standard_error
    assert both.interval().standard_error == pytest.approx(expected, rel=0.05)
    # Twice as many images contribute equally.
    assert both.counting_images == pytest.approx(2 * one.counting_images, rel=0.2)
    [change] = changes([both])
    assert (change.low, change.high) == pytest.approx((-1.96 * expected, 1.96 * expected), rel=0.1)
    for place in range(5):
        assert both.replicates[place] == one.replicates[place] - one.replicates[place - 1]


def test_intervals_of_several_methods_together_contain_the_true_differences_in_95_of_100_test_sets() -> None:
    random = np.random.default_rng(13)
    chances = np.array([0.5, 0.6, 0.75])  # of each method to be right about an image of the first set; 0.1 less later
    contained = 0
    for _ in range(REPETITIONS):
        first, second = random.random(IMAGES), random.random(MORE)  # how hard each image is, for all methods
        one = [scored((first < chance).astype(np.float64)) for chance in chances]
        other = []
        for chance in chances - 0.1:
            right = (second < chance).astype(np.float64)
            replicates = right @ MORE_WEIGHTS.astype(np.float64) / MORE
            influence = influences(MORE_WEIGHTS, replicates[None])[0]
            other.append(ReplicatedScore(float(right.mean()), replicates, influence))
        found = changes([minus_independent(later, earlier) for earlier, later in zip(one, other, strict=True)])
        contained += all(each.low <= -0.1 <= each.high for each in found)
    assert abs(contained / REPETITIONS - 0.95) <= 3 * math.sqrt(0.05 * 0.95 / REPETITIONS)
