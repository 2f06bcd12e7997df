"""Friedman's and Nemenyi's tests over classes, against a published example, computed critical values and slow code."""

from dataclasses import replace
from itertools import combinations
from math import erfc, exp, lgamma, log, pi, sqrt

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.app.pages.test_leaderboard_pages import COMP3, board, entry
from vocboard.app.leaderboards import rank_tests
from vocboard.app.leaderboards.entries import Entry
from vocboard.app.leaderboards.rank_tests import MAX_METHODS, critical_difference, friedman, rank_test
from vocboard.app.pages.rank_chart import rank_chart
from vocboard.evaluator.tasks.definitions import METRICS

# Demšar (2006), table 6: C4.5, and it with pruning, with a confidence factor, with both, on 14 data sets. The last
# digits of one 0.975 tell it from another, because his ranks do.
DEMSAR = np.array(
    [
        [0.763, 0.599, 0.954, 0.628, 0.882, 0.936, 0.661, 0.583, 0.775, 1.0, 0.940, 0.619, 0.972, 0.957],
        [0.768, 0.591, 0.971, 0.661, 0.888, 0.931, 0.668, 0.583, 0.838, 1.0, 0.962, 0.666, 0.981, 0.978],
        [0.771, 0.590, 0.968, 0.654, 0.886, 0.916, 0.609, 0.563, 0.866, 1.0, 0.965, 0.614, 0.9751, 0.946],
        [0.798, 0.569, 0.967, 0.657, 0.898, 0.931, 0.685, 0.625, 0.875, 1.0, 0.962, 0.669, 0.975, 0.970],
    ]
)
CLASSES = tuple("abcdefghijklmn")


def test_a_published_example() -> None:
    mean_ranks, statistic = friedman(DEMSAR)
    assert mean_ranks.round(3).tolist() == [3.143, 2.0, 2.893, 1.964]
    ties = 1 - (60 + 3 * 6) / (14 * 60)  # four equal scores in one data set, two in three; he does not correct for them
    assert statistic * ties == pytest.approx(9.28, abs=0.005)
    assert critical_difference(4, 14) == pytest.approx(1.25, abs=0.005)
    published = [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]  # his table 5 (a)
    assert list(rank_tests._RANGE[:9]) == pytest.approx(published, abs=0.0011)


def test_critical_values() -> None:
    z = np.linspace(-9, 9, 20_001)
    density = np.exp(-z * z / 2) / sqrt(2 * pi)
    below = np.array([erfc(-one / sqrt(2)) / 2 for one in z])
    for methods, value in enumerate(rank_tests._RANGE, 2):

        def range_below(value: float, count: int = methods) -> float:
            others = (below - np.interp(z - value * sqrt(2), z, below, left=0)) ** (count - 1)
            return float((count * density * others).sum() * (z[1] - z[0]))

        assert range_below(value - 0.0006) < 0.95 < range_below(value + 0.0006)
    for freedom, value in enumerate(rank_tests._CHI_SQUARED, 1):
        assert chi_squared_below(value - 0.0006, freedom) < 0.95 < chi_squared_below(value + 0.0006, freedom)
    assert len(rank_tests._RANGE) == len(rank_tests._CHI_SQUARED) == MAX_METHODS - 1


def chi_squared_below(value: float, freedom: int) -> float:
    half, term = freedom / 2, 2 / freedom
    total = term
    for number in range(1, 200):
        term *= value / 2 / (half + number)
        total += term
    return total * exp(-value / 2 + half * log(value / 2) - lgamma(half))


def slow_friedman(scores: NDArray[np.float64]) -> tuple[list[float], float]:
    """Return mean ranks, and the between-methods variance of ranks over their whole variance (Conover 1999, 5.8)."""
    methods, classes = scores.shape
    ranks = [
        [1 + sum(b > a for b in column) + (sum(b == a for b in column) - 1) / 2 for a in column] for column in scores.T
    ]
    middle = (methods + 1) / 2
    sums = [sum(one[method] for one in ranks) for method in range(methods)]
    whole = sum((rank - middle) ** 2 for one in ranks for rank in one)
    between = sum((total - classes * middle) ** 2 for total in sums)
    return [total / classes for total in sums], (methods - 1) * between / whole if whole else 0.0


@pytest.mark.parametrize("seed", range(30))
def test_against_slow_code_on_scores_with_ties(seed: int) -> None:
    random = np.random.default_rng(seed)
    methods, classes = int(random.integers(2, 12)), int(random.integers(5, 25))
    quality = random.normal(0, 0.1, (methods, 1)) * (seed % 3)
    scores = np.clip(random.normal(0.5, 0.1, (methods, classes)) + quality, 0, 1).round(1 + seed % 2)
    expected_ranks, expected = slow_friedman(scores)
    mean_ranks, statistic = friedman(scores)
    assert mean_ranks.tolist() == pytest.approx(expected_ranks)
    assert statistic == pytest.approx(expected)
    names = CLASSES[:5]
    entries = [
        entry(f"m{n}", n, 0.9 - n / 100, **dict(zip(names, row.tolist(), strict=False))) for n, row in enumerate(scores)
    ]
    shown = board(*entries, classes=names)
    found = rank_test(shown, shown.metric)
    assert found is not None
    assert list(found.mean_ranks) == sorted(found.mean_ranks)
    alike = {pair for first, last in found.groups for pair in combinations(range(first, last + 1), 2)}
    pairs = set(combinations(range(methods), 2))
    if found.is_significant:
        pairs = {(a, b) for a, b in pairs if found.mean_ranks[b] - found.mean_ranks[a] < found.difference}
    assert alike == pairs
    assert not any(one != two and two[0] <= one[0] <= one[1] <= two[1] for one in found.groups for two in found.groups)


def test_only_what_is_shown_is_compared_of_at_most_twenty_methods_in_at_least_five_classes() -> None:
    def method(name: str, mean: float, scores: list[float | None], left_out: int = 0) -> Entry:
        return entry(name, 1, mean, **dict(zip(CLASSES[left_out:], scores, strict=False)))

    good = [method(f"m{n}", 0.9 - n / 100, [0.5 + 1e-6 * n] * 14) for n in range(22)]  # equal to four decimals
    gap, undefined = method("gap", 0.95, [0.9] * 13, 1), method("undefined", 0.94, [None, *[0.9] * 13])
    shown = board(*good, gap, undefined, classes=CLASSES)
    found = rank_test(shown, shown.metric)
    assert found is not None
    assert (len(found.rows), found.left_out, found.statistic, set(found.mean_ranks)) == (20, 4, 0.0, {10.5})
    assert (found.is_significant, found.groups) == (False, ((0, 19),))
    assert {shown.rows[row].method for row in found.rows} == {f"m{n}" for n in range(20)}
    with_empty = board(*good, gap, undefined, classes=(*CLASSES, "without positives"))  # nobody has a score in it
    assert rank_test(with_empty, shown.metric) == found
    assert rank_chart(board(*good, classes=()), shown.metric) is None
    assert rank_chart(board(*good, classes=CLASSES[:4]), shown.metric) is None
    assert rank_chart(board(good[0], gap, classes=CLASSES), shown.metric) is None


def test_where_lower_is_better_the_lowest_has_rank_one(monkeypatch: pytest.MonkeyPatch) -> None:
    metric = COMP3.rules.metric
    monkeypatch.setitem(METRICS, metric, replace(METRICS[metric], higher_is_better=False))
    entries = [entry(name, 1, mean, **dict.fromkeys(CLASSES, mean)) for name, mean in (("worse", 0.4), ("better", 0.2))]
    shown = board(*entries, classes=CLASSES)
    chart = rank_chart(shown, shown.metric)
    assert chart is not None
    assert [(mark.name, mark.mean_rank, mark.groups) for mark in chart.marks] == [
        ("better", 1.0, ""),
        ("worse", 2.0, ""),
    ]
