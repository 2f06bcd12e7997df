"""Ridge regression: linear least squares with a penalty on squared weights."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

PENALTY = 1.0  # on squared weights of standardised features, relative to the number of examples / 100

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, slots=True)
class Ridge:
    """Several linear functions of standardised features."""

    mean: Floats
    scale: Floats
    weights: Floats  # (d, k)
    offset: Floats  # (k,)

    @classmethod
    def fit(cls, features: NDArray[np.floating], targets: NDArray[np.floating], weight: Floats | None = None) -> Self:
        """Fit (n, k) targets to (n, d) features, with (n,) weights of the examples."""
        examples = np.asarray(features, dtype=np.float64)
        importance = np.ones(len(examples)) if weight is None else weight / weight.mean()
        mean, scale = examples.mean(axis=0), examples.std(axis=0) + 1e-6
        standard = (examples - mean) / scale
        offset = np.average(targets, axis=0, weights=importance)
        weighted = standard * importance[:, None]
        covariance = standard.T @ weighted + PENALTY * len(examples) / 100 * np.eye(standard.shape[1])
        weights = np.linalg.solve(covariance, weighted.T @ (targets - offset))
        return cls(mean, scale, weights, offset)

    def predict(self, features: NDArray[np.floating]) -> Floats:
        """Return (n, k) values for (n, d) features."""
        return np.asarray((features - self.mean) / self.scale @ self.weights + self.offset)


def balanced(positive: NDArray[np.bool_]) -> Floats:
    """Return (n,) weights that give positive examples the same total weight as all others."""
    share = positive.mean()
    if share in (0, 1):
        return np.ones(len(positive))
    return np.asarray(np.where(positive, 0.5 / share, 0.5 / (1 - share)))


@dataclass(frozen=True, eq=False, slots=True)
class Scorers:
    """Several linear functions of the same features."""

    weights: NDArray[np.float32]  # (d, k)
    offset: NDArray[np.float32]  # (k,)

    @classmethod
    def one_against_rest(cls, features: NDArray[np.float32], kind: NDArray[np.int64], known: Sequence[int]) -> Self:
        """Fit a function for each kind: 1 for its examples and -1 for all others, both with the same total weight.

        The result is that of `Ridge.fit` with weights from `balanced`, but the products of all examples are computed
        only once.


        Args:
            features: (n, d) features of the examples.
            kind: (n,) kind of each example.
            known: kinds to learn; each needs an example.
        """
        mean, scale = features.mean(axis=0, dtype=np.float64), features.std(axis=0, dtype=np.float64) + 1e-6
        standard = ((features - mean) / scale).astype(np.float32)
        products, total, count = standard.T @ standard, standard.sum(axis=0, dtype=np.float64), len(standard)
        penalty = PENALTY * count / 100 * np.eye(standard.shape[1])
        columns = []
        for number in known:
            own = standard[kind == number]
            others = count - len(own)
            mine, theirs = 0.5 * count / len(own), 0.5 * count / max(1, others)
            own_total = own.sum(axis=0, dtype=np.float64)
            covariance = theirs * products + (mine - theirs) * (own.T @ own) + penalty
            columns.append(np.linalg.solve(covariance, mine * own_total - theirs * (total - own_total)))
        weights = np.stack(columns, axis=1) / scale[:, None]
        return cls(weights.astype(np.float32), (-mean @ weights).astype(np.float32))

    def predict(self, features: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return (n, k) values for (n, d) features."""
        return np.asarray(features @ self.weights + self.offset)
