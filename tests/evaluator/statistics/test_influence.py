"""Which images a score depends on, and how well its standard error is therefore known."""

import numpy as np
import pytest

from vocboard.evaluator.statistics.influence import degrees_of_freedom, influences, student_quantile
from vocboard.evaluator.statistics.weights import draw_weights

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
    assert np.allclose(found[:1], influences(weights, mean), rtol=1e-5)
    assert np.corrcoef(found)[0, 1] > 0.8


@pytest.mark.parametrize(
    ("freedom", "expected"), [(4, 2.7764), (5, 2.5706), (10, 2.2281), (30, 2.0423), (1_000_000, 1.95997)]
)
def test_students_quantiles_are_those_of_tables(freedom: int, expected: float) -> None:
    [found] = student_quantile(np.array([1.9599640]), freedom).tolist()
    assert found == pytest.approx(expected, rel=1e-3)
