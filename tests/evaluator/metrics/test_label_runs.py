"""Label maps as runs: whatever the map, it comes back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from vocboard.evaluator.ground_truth import SegmentationTruth
from vocboard.evaluator.metrics.label_runs import LabelRuns


@st.composite
def label_maps(draw: st.DrawFn) -> NDArray[np.uint8]:
    height, width = draw(st.tuples(st.integers(1, 9), st.integers(1, 9)))
    labels = draw(st.lists(st.sampled_from([0, 1, 255]), min_size=height * width, max_size=height * width))
    return np.array(labels, dtype=np.uint8).reshape(height, width)


@given(label_maps())
def test_pixels_come_back(label_map: NDArray[np.uint8]) -> None:
    runs = LabelRuns.of(label_map)
    assert runs.pixels().tolist() == label_map.tolist()
    assert (runs.label[1:] != runs.label[:-1]).all()  # runs are as long as can be
    assert (runs.label.dtype, runs.last.dtype) == (np.uint8, np.int32)


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0)])
def test_a_map_without_pixels_has_no_runs(shape: tuple[int, int]) -> None:
    runs = LabelRuns.of(np.empty(shape, dtype=np.uint8))
    assert len(runs.label) == len(runs.last) == 0
    assert runs.pixels().shape == shape


@given(st.lists(label_maps(), max_size=5))
def test_each_of_several_maps_comes_back(maps: list[NDArray[np.uint8]]) -> None:
    truth = SegmentationTruth.of(maps)
    assert len(truth) == len(maps)
    assert [truth.runs(image).pixels().tolist() for image in range(len(maps))] == [each.tolist() for each in maps]
