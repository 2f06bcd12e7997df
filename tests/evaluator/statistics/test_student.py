"""Quantiles of Student's distribution against a numerical integral of its density."""

import math
from statistics import NormalDist

import numpy as np
import pytest

from vocboard.evaluator.statistics.influence import student_quantile

STEPS = 2000


def density(t: float, freedom: float) -> float:
    half = (freedom + 1) / 2
    factor = math.exp(math.lgamma(half) - math.lgamma(freedom / 2)) / math.sqrt(freedom * math.pi)
    return factor * (1 + t * t / freedom) ** -half


def quantile(probability: float, freedom: float) -> float:
    """Return the quantile by Newton's method, with Simpson's rule for the integral from 0."""
    t = NormalDist().inv_cdf(probability)
    for _ in range(12):
        width = t / STEPS
        inner = sum((4 if step % 2 else 2) * density(step * width, freedom) for step in range(1, STEPS))
        below = 0.5 + (density(0, freedom) + inner + density(t, freedom)) * width / 3
        t -= (below - probability) / density(t, freedom)
    return t


@pytest.mark.parametrize("probability", [0.75, 0.975, 0.995])
def test_each_term_of_the_expansion_has_its_coefficients(probability: float) -> None:
    """What is left out is of the fifth order, so with twice the degrees of freedom a 32nd of it is left."""
    z = np.array([NormalDist().inv_cdf(probability)])
    errors = [abs(float(student_quantile(z, freedom)[0]) - quantile(probability, freedom)) for freedom in (10, 20, 40)]
    assert errors[0] / errors[1] == pytest.approx(32, rel=0.25)
    assert errors[1] / errors[2] == pytest.approx(32, rel=0.25)


@pytest.mark.parametrize("freedom", [4, 5, 7, 12, 30])
def test_the_ends_of_a_95_percent_interval_are_exact_to_a_thousandth(freedom: int) -> None:
    found = float(student_quantile(np.array([1.959963984540054]), freedom)[0])
    assert found == pytest.approx(quantile(0.975, freedom), rel=0.001)
