"""Both ways of learning are the same function."""

import numpy as np

from vocboard.evaluator.examples.ridge import Ridge, Scorers, balanced


def test_one_against_rest_is_ridge_with_balanced_weights() -> None:
    random = np.random.default_rng(0)
    kind = random.integers(-1, 3, 400)
    features = (random.normal(size=(400, 7)) + kind[:, None] * np.arange(7) / 10).astype(np.float32)
    found = Scorers.one_against_rest(features, kind, [0, 2]).predict(features)
    for column, number in enumerate((0, 2)):
        positive = kind == number
        ridge = Ridge.fit(features, np.where(positive, 1.0, -1.0)[:, None], balanced(positive))
        assert np.allclose(found[:, column], ridge.predict(features)[:, 0], atol=1e-4)
