"""Average precision as if every class were equally frequent."""

import numpy as np

from vocboard.evaluator.metrics.precision_recall import Judgement, areas_under_curve

NORMAL_SHARE = 0.15  # normal number of positives per image; Hoiem et al. 2012: "N = 0.15 N_images"


def normalised_average_precision(judgement: Judgement, positives: int, normal: float) -> float:
    """Return the area under the curve of recall and normalised precision, as if there were `normal` positives.

    Precision depends on how many positives there are: a detector that guesses is more often right about a frequent
    class. Normalised precision R N / (R N + F) has recall R and the number F of false positives, with the same N for
    all classes. It is interpolated as from VOC2010 on.

    Source: D. Hoiem, Y. Chodpathumwan and Q. Dai, "Diagnosing Error in Object Detectors", ECCV 2012, section 2.2.

    Args:
        judgement: results by rank.
        positives: number of positives of the class (or of some of its objects).
        normal: the number N.

    Returns:
        A fraction; NaN without positives, 0 if nothing was found.
    """
    if not positives:
        return float("nan")
    ranks = np.flatnonzero(judgement.true)
    recall = np.arange(1, len(ranks) + 1) / positives
    wrong = np.cumsum(judgement.false)[ranks]
    return float(areas_under_curve(recall, recall * normal / (recall * normal + wrong)).sum())
