"""How much each image contributes to the variance of a score, and how well the variance is therefore known.

If few images determine a score, its standard error is known only roughly, and intervals from the bootstrap are too
narrow, like normal intervals in place of Student's. The effective degrees of freedom say by how much.
"""

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.evidence.weights import Weights

ERROR_ALLOWANCE = 1.03  # by which standard errors of differences are multiplied: the bootstrap's can be too small
MIN_DEGREES_OF_FREEDOM = 4  # with fewer, the expansion of Student's quantile is inaccurate, and so is the bootstrap


def influences(weights: Weights, replicates: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return the influence of each image on each score: the covariance of its weight and the score over replicates.

    The sum of the squares over images is the variance of the score. Source: B. Efron, "Estimation and Accuracy after
    Model Selection", JASA 2014, section 3 (the infinitesimal jackknife).

    Args:
        weights: (images, b) how often each replicate draws each image.
        replicates: (k, b) scores; NaN where undefined, which are treated as if they were the mean.

    Returns:
        (k, images) influences.
    """
    defined = ~np.isnan(replicates)
    number = np.maximum(defined.sum(axis=1, keepdims=True), 1)
    mean = np.where(defined, replicates, 0.0).sum(axis=1, keepdims=True) / number
    deviation = np.where(defined, replicates - mean, 0.0) / number
    # Deviations add up to 0, so the mean weight, 1, need not be subtracted.
    return np.asarray((weights.astype(np.float32) @ deviation.T.astype(np.float32)).T, dtype=np.float32)


def degrees_of_freedom(influence: NDArray[np.floating], replicates: int) -> NDArray[np.int64]:
    """Return the effective degrees of freedom of the standard errors of scores: how many images determine each.

    If n images contribute equally, and the others nothing, these are n. In general Var² / Var(Var), after F. E.
    Satterthwaite, "An Approximate Distribution of Estimates of Variance Components", Biometrics 1946. The variance of
    scores is the sum of the squared influences, so its own variance follows from their fourth powers. Both sums are
    corrected for the noise of influences, which come from a finite number of replicates. Satterthwaite has twice as
    much, for influences that are known; those of average precision depend on the other images, too, and in simulations
    its standard errors have 0.4 to 0.7 times as many degrees of freedom.

    Args:
        influence: (k, images) influences of images on scores.
        replicates: number of replicates that the influences come from.

    Returns:
        (k,) whole numbers, from 4 to the number of images (at least 4).
    """
    images = influence.shape[1]
    influence = influence.astype(np.float64)
    influence *= influence
    squares = influence.sum(axis=1)
    # Noise adds variance / replicates to the square of each influence.
    variance = squares / (1 + images / replicates)
    noise = variance / replicates
    fourth = np.einsum("ki,ki->k", influence, influence) - 6 * noise * variance - 3 * images * noise**2
    with np.errstate(divide="ignore", invalid="ignore"):
        share = fourth / variance**2 - 1 / images
        freedom = np.where(share > 0, 1 / share, images)
    whole = np.clip(np.nan_to_num(np.floor(freedom)), MIN_DEGREES_OF_FREEDOM, max(images, MIN_DEGREES_OF_FREEDOM))
    return np.asarray(whole, dtype=np.int64)


def student_quantile(z: NDArray[np.float64], freedom: float | NDArray[np.float64]) -> NDArray[np.float64]:
    """Return quantiles of Student's distribution: those with the same probability as normal quantiles.

    Args:
        z: normal quantiles.
        freedom: degrees of freedom, one number or as many as there are quantiles.

    The expansion of R. A. Fisher and E. A. Cornish, "The Percentile Points of Distributions Having Known Cumulants",
    Technometrics 1960. For the 95 % interval it is exact to 0.1 % from 4 degrees of freedom on.

    >>> float(student_quantile(np.array([1.959964]), 30).round(3)[0])
    2.042
    """
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    fourth = (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92_160
    return np.asarray(z + first / freedom + second / freedom**2 + third / freedom**3 + fourth / freedom**4)
