"""Expected calibration error, in ten bins of equal width."""

import numpy as np

from tests.evaluator.reference.detection import Detection, Object, marks


def calibration_error(found: list[Detection], objects: list[Object]) -> float:
    ranked = sorted((row[1] for row in found), reverse=True)
    judged, _ = marks(found, objects, with_difficult=False)
    rows = [(c, mark == "true") for c, mark in zip(ranked, judged, strict=True) if mark != "ignored"]
    error = 0.0
    for tenth in range(10):
        own = [(c, right) for c, right in rows if tenth / 10 <= c < (tenth + 1) / 10 or (tenth == 9 and c == 1)]
        error += abs(sum(c for c, _ in own) - sum(right for _, right in own))
    return error / len(rows) if rows else np.nan
