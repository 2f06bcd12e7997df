"""Differences of scores on two independent test sets, as of VOC2005's test1 and test2."""

import math

import numpy as np
import pytest

from tests.evaluator.statistics.test_sequence import IMAGES, scored
from vocboard.evaluator.evidence.weights import draw_weights
from vocboard.evaluator.statistics.influence import influences
from vocboard.evaluator.statistics.intervals import ReplicatedScore
from vocboard.evaluator.statistics.simultaneous import changes, minus, minus_independent

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
