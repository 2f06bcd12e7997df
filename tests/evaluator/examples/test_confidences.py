"""Confidences of the example methods: within the range that a competition allows, and in the order of the scores."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from vocboard.evaluator.editions import Competition, load
from vocboard.evaluator.examples.confidences import confidence

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


def test_without_a_range_scores_are_written_as_they_are() -> None:
    assert confidence(-1.5, within(None)) == "-1.500000"
