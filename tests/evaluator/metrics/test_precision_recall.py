"""Ranks by confidence: those of a stable sort, whatever is sorted first to make it quick."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vocboard.evaluator.metrics.precision_recall import by_confidence, first_of_each

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
