"""How confidences compare with the share of results that are right."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.metrics.precision_recall import Judgement

BINS = 10  # of confidence, of equal width


@dataclass(frozen=True, eq=False, slots=True)
class Calibration:
    """How confidences compare with the share of results that are right.

    Attributes:
        results: (10,) number of true and false positives with a confidence in each tenth of 0 to 1.
        confidence: (10,) their mean confidence; NaN without results.
        precision: (10,) share of true positives; NaN without results.
        error: mean difference of both, over results: the expected calibration error, a fraction.
    """

    results: NDArray[np.int64]
    confidence: NDArray[np.float64]
    precision: NDArray[np.float64]
    error: float

    def as_json(self) -> dict[str, Any]:
        """Return the numbers for JSON; undefined values are None."""
        return {
            "error": self.error,
            "results": self.results.tolist(),
            "confidence": [None if np.isnan(value) else value for value in self.confidence.tolist()],
            "precision": [None if np.isnan(value) else value for value in self.precision.tolist()],
        }


def calibration(judgement: Judgement, confidence: NDArray[np.float64]) -> Calibration | None:
    """Return the calibration; None if a confidence is not from 0 to 1, or there are no results.

    Tenth k has the confidences from k / 10 up to but without (k + 1) / 10; 1 is in the last. In each, the error is the
    absolute difference of the mean confidence and the share of true positives; the expected calibration error is the
    mean over tenths, weighted by their number of results. Ignored results do not count.

    Source: M. P. Naeini, G. F. Cooper and M. Hauskrecht, "Obtaining Well Calibrated Probabilities Using Bayesian
    Binning", AAAI 2015; for detections F. Küppers et al., "Multivariate Confidence Calibration for Object Detection",
    CVPR workshops 2020.

    Args:
        judgement: results by rank.
        confidence: (n,) of the same results; −∞ for items without one.
    """
    counted = judgement.true | judgement.false
    confidence, true = confidence[counted], judgement.true[counted]
    if not len(confidence) or confidence.min() < 0 or confidence.max() > 1:
        return None
    which = np.minimum((confidence * BINS).astype(np.int64), BINS - 1)
    results = np.bincount(which, minlength=BINS)
    empty = np.full(BINS, np.nan)
    mean = np.divide(np.bincount(which, confidence, BINS), results, out=empty.copy(), where=results > 0)
    precision = np.divide(np.bincount(which, true, BINS), results, out=empty.copy(), where=results > 0)
    error = float(np.nansum(np.abs(mean - precision) * results) / len(confidence))
    return Calibration(results, mean, precision, error)
