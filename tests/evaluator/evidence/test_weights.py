"""Weights of the images in replicates, sums over them, and the influence of each image."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vocboard.evaluator.evidence.segment_sums import segment_sums
from vocboard.evaluator.evidence.weights import draw_weights
from vocboard.evaluator.statistics.influence import degrees_of_freedom, influences, student_quantile


def test_each_replicate_has_as_many_images_as_there_are() -> None:
    weights = draw_weights(50, 200)
    assert weights.shape == (50, 200)
    assert (weights.sum(axis=0) == 50).all()


def test_is_the_same_on_every_machine_and_with_every_version_of_numpy() -> None:
    assert draw_weights(5, 3).tolist() == [[0, 1, 1], [2, 1, 0], [1, 0, 1], [2, 3, 1], [0, 0, 2]]


def test_the_first_replicates_are_the_same_whatever_their_number() -> None:
    assert np.array_equal(draw_weights(30, 20), draw_weights(30, 50)[:, :20])


def test_every_image_has_the_same_chance() -> None:
    drawn = draw_weights(10, 20_000).astype(np.int64)
    assert drawn.mean(axis=1) == pytest.approx(np.ones(10), abs=0.03)  # four standard errors
    assert drawn.var() == pytest.approx(0.9, abs=0.02)  # binomial: 10 of 1/10


def test_another_seed_draws_others() -> None:
    assert not np.array_equal(draw_weights(30, 20), draw_weights(30, 20, seed=1))


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


IMAGES, REPLICATES = 200, 2_000


def replicates_of_mean(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the mean of a value per image, whose influences are known: (value - mean) / images."""
    return (values @ weights / len(values))[None]


def test_influences_on_a_mean_are_the_deviations_from_it() -> None:
    values = np.random.default_rng(0).gamma(1.0, size=IMAGES)
    weights = draw_weights(IMAGES, REPLICATES)
    [found] = influences(weights, replicates_of_mean(values, weights))
    expected = (values - values.mean()) / IMAGES
    error = values.std() / np.sqrt(IMAGES) / np.sqrt(REPLICATES)
    assert np.abs(found - expected).max() < 5 * error
    assert np.corrcoef(found, expected)[0, 1] > 0.9


@pytest.mark.parametrize("shown", [10, 40, 200])
def test_degrees_of_freedom_are_about_the_number_of_images_that_count(shown: int) -> None:
    values = np.zeros(IMAGES)
    values[:shown] = np.where(np.arange(shown) % 2, 1, -1)  # all that count do so equally
    weights = draw_weights(IMAGES, REPLICATES)
    [found] = degrees_of_freedom(influences(weights, replicates_of_mean(values, weights)), REPLICATES).tolist()
    expected = 1 / (1 / shown - 1 / IMAGES) if shown < IMAGES else IMAGES
    assert min(expected, IMAGES) == pytest.approx(found, rel=0.35)


def test_a_score_that_no_image_changes_has_as_many_as_there_are_images() -> None:
    assert degrees_of_freedom(np.zeros((1, IMAGES), dtype=np.float32), REPLICATES).tolist() == [IMAGES]


def test_replicates_that_do_not_define_a_score_do_not_change_influences_on_others() -> None:
    weights = draw_weights(IMAGES, REPLICATES)
    mean = replicates_of_mean(np.arange(IMAGES), weights)
    with_gaps = mean.copy()
    with_gaps[0, ::3] = np.nan
    found = influences(weights, np.vstack((mean, with_gaps)))
    assert np.isfinite(found).all()
    assert np.allclose(found[:1], influences(weights, mean), rtol=1e-5, atol=1e-6)  # single precision
    assert np.corrcoef(found)[0, 1] > 0.8


@pytest.mark.parametrize(
    ("freedom", "expected"), [(4, 2.7764), (5, 2.5706), (10, 2.2281), (30, 2.0423), (1_000_000, 1.95997)]
)
def test_students_quantiles_are_those_of_tables(freedom: int, expected: float) -> None:
    [found] = student_quantile(np.array([1.9599640]), freedom).tolist()
    assert found == pytest.approx(expected, rel=1e-3)
