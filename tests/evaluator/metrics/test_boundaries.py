"""Label maps: scores near boundaries, and maps as runs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.evaluator.reference import boundaries as reference
from tests.support.seeds import seeds
from vocboard.evaluator.ground_truth import SegmentationTruth
from vocboard.evaluator.metrics.boundaries import TRIMAP_WIDTH, Boundaries, near_boundary
from vocboard.evaluator.metrics.label_runs import LabelRuns

LABELS = 3


def patches(chance: np.random.Generator, labels: list[int], size: tuple[int, int], patch: int) -> np.ndarray:
    """A label map of square patches, from noise to a single area."""
    height, width = size
    coarse = chance.choice(labels, (height // patch + 1, width // patch + 1))
    return np.kron(coarse, np.ones((patch, patch))).astype(np.uint8)[:height, :width]


@pytest.mark.parametrize("seed", seeds(12))
def test_scores_are_those_of_the_reference(seed: int) -> None:
    chance = np.random.default_rng(seed)
    sizes = [(1, 1), (30, 41), (5, 90)]
    patch = (1, 4, 13, 60)[seed % 4]
    truths = [patches(chance, [0, 0, 1, 2, 255], size, patch) for size in sizes]
    results = [
        np.where(chance.random(size) < 0.9, truth % 255, 1).astype(np.uint8)
        for truth, size in zip(truths, sizes, strict=True)
    ]
    counted = Boundaries(LABELS)
    for image, (truth, result) in enumerate(zip(truths, results, strict=True)):
        counted.add(image, LabelRuns.of(truth), result)
    plain = [each.tolist() for each in truths], [each.tolist() for each in results]
    expected = [reference.boundary_iou(*plain, label) for label in range(LABELS + 1)]
    counts = counted.counts()
    assert counts.boundary_iou().tolist() == pytest.approx(
        [np.nan if each is None else each for each in expected], nan_ok=True, abs=1e-12
    )
    trimap = reference.trimap_accuracy(*plain, TRIMAP_WIDTH)
    assert counts.trimap_accuracy() == pytest.approx(np.nan if trimap is None else trimap, nan_ok=True, abs=1e-12)


def test_a_result_that_is_only_wrong_in_void_is_perfect() -> None:
    truth = np.zeros((40, 40), dtype=np.uint8)
    truth[10:30, 10:30] = 255
    truth[14:26, 14:26] = 1
    result = (truth > 0).astype(np.uint8)
    counted = Boundaries(LABELS)
    counted.add(0, LabelRuns.of(truth), result)
    assert counted.counts().boundary_iou()[:2].tolist() == [1, 1]
    assert counted.counts().trimap_accuracy() == 1


def test_a_blurred_outline_costs_more_near_the_boundary_than_in_the_whole_area() -> None:
    truth = np.zeros((300, 400), dtype=np.uint8)
    truth[50:250, 50:350] = 1
    result = np.zeros_like(truth)
    result[55:245, 55:345] = 1
    counted = Boundaries(LABELS)
    counted.add(0, LabelRuns.of(truth), result)
    whole = (result & truth).sum() / (result | truth).sum()
    assert whole > 0.9
    assert counted.counts().boundary_iou()[1] < 0.4


def test_edges_of_the_image_are_boundaries_only_if_asked() -> None:
    label_map = np.ones((5, 5), dtype=np.uint8)
    assert not near_boundary(label_map, 1, edges=False).any()
    assert (~near_boundary(label_map, 1, edges=True)).sum() == 9


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
