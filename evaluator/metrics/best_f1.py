"""The best harmonic mean of precision and recall that a threshold of confidence can reach."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.metrics.precision_recall import Judgement


@dataclass(frozen=True, slots=True)
class BestF1:
    """The threshold of confidence at which the harmonic mean of precision and recall is highest.

    Attributes:
        f1: the harmonic mean, a fraction.
        confidence: of the last result that is kept; the highest such threshold if several are as good. None if every
            rank is a threshold.
        precision: of the results that are kept.
        recall: of the results that are kept.
    """

    f1: float
    confidence: float | None
    precision: float
    recall: float


def best_f1(judgement: Judgement, confidence: NDArray[np.float64] | None) -> BestF1 | None:
    """Return the best F1 score; None without positives or if nothing was found.

    Source: C. J. van Rijsbergen, "Information Retrieval", 1979, chapter 7; for layouts VOC2010 document, section 9.6.3
    (VOCevallayout_f), whose curve has a point at every rank.

    Args:
        judgement: results by rank.
        confidence: (n,) non-increasing; results of equal confidence are kept or dropped together. None: every rank is a
            threshold.
    """
    if not judgement.positives or not judgement.true.any():
        return None
    true, false = np.cumsum(judgement.true), np.cumsum(judgement.false)
    last = np.arange(len(true))
    if confidence is not None:
        last = np.flatnonzero(np.append(confidence[1:] != confidence[:-1], True))
    f1 = 2 * true[last] / (true[last] + false[last] + judgement.positives)
    rank = last[int(np.argmax(f1))]
    found, wrong = int(true[rank]), int(false[rank])
    threshold = None if confidence is None else float(confidence[rank])
    return BestF1(float(f1.max()), threshold, found / (found + wrong), found / judgement.positives)
