"""Sums over segments are those of a loop, also where 8 bits would overflow."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vocboard.evaluator.statistics.segment_sums import segment_sums


@given(
    st.integers(1, 255),
    st.lists(st.integers(0, 40), max_size=12),
    st.integers(0, 2**32),
)
def test_sums_as_a_loop_does(largest: int, lengths: list[int], seed: int) -> None:
    random = np.random.default_rng(seed)
    weights = random.integers(0, largest, (7, 3), endpoint=True).astype(np.uint8)
    row = random.integers(0, 7, sum(lengths))
    end = np.cumsum(lengths, dtype=np.int64)
    found = segment_sums(weights, row, end)
    starts = [0, *end[:-1].tolist()]
    expected = [weights[row[start:stop]].astype(int).sum(axis=0) for start, stop in zip(starts, end, strict=False)]
    assert found.tolist() == np.array(expected).reshape(len(lengths), 3).tolist()


def test_a_long_segment_of_large_weights_does_not_overflow() -> None:
    weights = np.full((1, 2), 255, dtype=np.uint8)
    assert segment_sums(weights, np.zeros(100_000, dtype=np.int32), np.array([100_000])).tolist() == [[25_500_000] * 2]


@pytest.mark.parametrize("segments", [0, 1, 3])
def test_nothing_adds_up_to_nothing(segments: int) -> None:
    weights = np.ones((4, 2), dtype=np.uint8)
    found = segment_sums(weights, np.empty(0, dtype=np.int64), np.zeros(segments, dtype=np.int64))
    assert found.tolist() == [[0, 0]] * segments
