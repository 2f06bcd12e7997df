"""The replicates: the same everywhere, each with as many images as there are."""

import numpy as np
import pytest

from vocboard.evaluator.statistics.weights import draw_weights


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
