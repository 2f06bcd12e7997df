"""Intervals contain the true score as often as they say, and equal methods are rarely called different.

By default a few repetitions with wide limits, which only gross errors violate. VOCBOARD_COVERAGE_REPETITIONS=500 makes
the claims of docs/statistics.md: 93 to 97 % coverage, at most 6 % of the pairs of equal methods called different, and
any pair of three equal methods in at most 7 %. `python -m benchmarks.coverage` simulates means of many classes.
"""

import os

import numpy as np
import pytest

from tests.evaluator.statistics.populations import POPULATIONS, Binormal
from vocboard.evaluator.evidence.weights import draw_weights
from vocboard.evaluator.statistics.bias import bias_of, draw_parts
from vocboard.evaluator.statistics.comparison import compare
from vocboard.evaluator.statistics.influence import influences
from vocboard.evaluator.statistics.intervals import ReplicatedScore

REPETITIONS = int(os.environ.get("VOCBOARD_COVERAGE_REPETITIONS", "40"))
IS_LONG = REPETITIONS >= 500
IMAGES = 500
REPLICATES = 1_000
METHODS = 3
COVERAGE = (0.93, 0.97) if IS_LONG else (0.8, 1.0)
COVERAGE_OF = {"AP 11 points": (0.93, 0.985)} if IS_LONG else {}  # jumps where recall ends near a multiple of 0.1
SLOW = {"frequency-weighted IoU"}  # even a few repetitions take seconds
MAX_DIFFERENT = 0.06 if IS_LONG else 0.2
MAX_DIFFERENT_OF_THREE = 0.07 if IS_LONG else 0.25  # any pair of three


@pytest.mark.timeout(0 if IS_LONG else 120)
@pytest.mark.parametrize("name", [name for name in POPULATIONS if IS_LONG or name not in SLOW])
def test_intervals_cover_and_equal_methods_are_equal(name: str) -> None:
    population = POPULATIONS[name]
    truth, weights, parts = population.true_score(), draw_weights(IMAGES, REPLICATES), draw_parts(IMAGES)
    covered, different, different_of_three = [], [], []
    for repetition in range(REPETITIONS):
        random = np.random.default_rng([2007, repetition])
        methods = population.draw(IMAGES, METHODS, random)
        drawn = np.array([each.replicates(weights) for each in methods])
        biases = (bias_of(each, each.replicates(parts)) for each in methods)
        rows = enumerate(zip(methods, drawn, influences(weights, drawn), biases, strict=True))
        scores = {str(n): ReplicatedScore(each.score(), *row) for n, (each, *row) in rows}
        interval = scores["0"].interval()
        covered.append(interval.low <= truth <= interval.high)
        two = compare({method: scores[method] for method in ("0", "1")})
        different += [difference.is_significant for difference in two.differences.values()]
        different_of_three.append(any(each.is_significant for each in compare(scores).differences.values()))
    shares = (f"{100 * np.mean(found):.1f} %" for found in (covered, different, different_of_three))
    print(f"{name}, {REPETITIONS} test sets: covered {{}}, two called different {{}}, of three {{}}".format(*shares))
    least, most = COVERAGE_OF.get(name, COVERAGE)
    assert least <= np.mean(covered) <= most
    assert np.mean(different) <= MAX_DIFFERENT
    assert np.mean(different_of_three) <= MAX_DIFFERENT_OF_THREE


def test_intervals_of_means_of_many_classes_contain_the_true_mean_and_the_score() -> None:
    """The bias of average precision does not average out; percentile intervals contain the true mean in few cases."""
    population, images, classes, drawn = Binormal(distance=1.0), 1_000, 20, 120
    weights, parts, random = draw_weights(images, REPLICATES), draw_parts(images), np.random.default_rng(2007)
    scores, replicates, biases = np.empty(drawn), np.empty((drawn, REPLICATES)), np.empty(drawn)
    for place in range(drawn):
        [one] = population.draw(images, 1, random)
        scores[place], replicates[place] = one.score(), one.replicates(weights)
        biases[place] = bias_of(one, one.replicates(parts))
    influence, truth = influences(weights, replicates), population.true_score()
    found, percentile = [], []
    for chosen in (random.permutation(drawn)[:classes] for _ in range(100)):
        replicated = replicates[chosen].mean(axis=0)
        of_classes = influence[chosen].mean(axis=0)
        mean = ReplicatedScore(float(scores[chosen].mean()), replicated, of_classes, float(biases[chosen].mean()))
        interval = mean.interval()
        assert interval.low <= mean.score <= interval.high
        found.append(interval.low <= truth <= interval.high)
        percentile.append(np.quantile(replicated, 0.025) <= truth)
    assert np.mean(percentile) <= 0.3
    assert np.mean(found) >= 0.9
