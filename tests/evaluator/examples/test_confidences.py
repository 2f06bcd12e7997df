"""The parts of example methods."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from vocboard.evaluator.editions import Competition, load
from vocboard.evaluator.examples.confidences import confidence
from vocboard.evaluator.examples.ridge import Ridge, Scorers, balanced

COMPETITION = load("VOC2012").competitions["comp3"]
SCORES = st.floats(-1000, 1000)
LIMITS = st.tuples(st.floats(-1e4, 1e4), st.floats(1e-3, 1e4)).map(lambda ends: (ends[0], ends[0] + ends[1]))


def within(limits: tuple[float, float] | None) -> Competition:
    return replace(COMPETITION, rules=replace(COMPETITION.rules, confidence_range=limits))


@given(SCORES, LIMITS)
def test_every_confidence_is_within_the_range(score: float, limits: tuple[float, float]) -> None:
    assert limits[0] <= float(confidence(score, within(limits))) <= limits[1]


@given(SCORES, SCORES, LIMITS)
def test_the_order_of_scores_stays(one: float, another: float, limits: tuple[float, float]) -> None:
    first, second = (float(confidence(score, within(limits))) for score in sorted((one, another)))
    assert first <= second


def test_scores_as_the_methods_give_them_stay_apart() -> None:
    scores = [-40.0, -39.9, -1.0, -0.999, 0.0, 0.001, 1.0, 2.0]
    texts = [confidence(score, within((0.0, 1.0))) for score in scores]
    assert sorted(set(texts), key=float) == texts
    assert (texts[2], texts[4]) == ("0.250000", "0.500000")


def test_without_a_range_scores_are_written_as_they_are() -> None:
    assert confidence(-1.5, within(None)) == "-1.500000"


def test_one_against_rest_is_ridge_with_balanced_weights() -> None:
    random = np.random.default_rng(0)
    kind = random.integers(-1, 3, 400)
    features = (random.normal(size=(400, 7)) + kind[:, None] * np.arange(7) / 10).astype(np.float32)
    found = Scorers.one_against_rest(features, kind, [0, 2]).predict(features)
    for column, number in enumerate((0, 2)):
        positive = kind == number
        ridge = Ridge.fit(features, np.where(positive, 1.0, -1.0)[:, None], balanced(positive))
        assert np.allclose(found[:, column], ridge.predict(features)[:, 0], atol=1e-4)
