"""The diagnosis of a segmentation, as JSON: measures over all pixels, and which labels are confused."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.diagnosis.measures import defined
from vocboard.evaluator.metrics.boundaries import BoundaryCounts
from vocboard.evaluator.metrics.confusion_matrix import frequency_weighted_iou, overall_pixel_accuracy
from vocboard.evaluator.rules import BACKGROUND, Competition

MAX_CONFUSIONS = 20


def diagnose_segmentation(
    matrix: NDArray[np.int64], competition: Competition, boundaries: BoundaryCounts | None
) -> dict[str, Any]:
    """Return the share of correct pixels, IoU weighted by frequency, and the largest confusions, for JSON.

    If pixels near boundaries were counted, also the boundary IoU of each label, and how many pixels are wrong near true
    boundaries and away from them.

    Args:
        matrix: (n + 1, n + 1) pixels; rows are ground truth, columns results, background first.
        competition: for the names of labels.
        boundaries: pixels near boundaries; None if they were not counted.
    """
    labels = (BACKGROUND, *competition.classes)
    return {
        "pixel_accuracy": defined(overall_pixel_accuracy(matrix)),
        "frequency_weighted_iou": defined(frequency_weighted_iou(matrix)),
        "confusions": confusions(matrix, labels),
        **({} if boundaries is None else _near_boundaries(matrix, boundaries, labels)),
    }


def _near_boundaries(matrix: NDArray[np.int64], counts: BoundaryCounts, labels: tuple[str, ...]) -> dict[str, Any]:
    total, right = int(matrix.sum()), int(np.trace(matrix))
    return {
        "boundary_iou": {
            name: defined(value) for name, value in zip(labels, counts.boundary_iou().tolist(), strict=True)
        },
        "near_boundaries": _pixels(counts.trimap, counts.trimap_correct),
        "away_from_boundaries": _pixels(total - counts.trimap, right - counts.trimap_correct),
    }


def _pixels(total: int, right: int) -> dict[str, Any]:
    return {"pixels": total, "wrong": total - right, "accuracy": right / total if total else None}


def confusions(matrix: NDArray[np.int64], labels: tuple[str, ...]) -> list[dict[str, Any]]:
    """Return the largest confusions, each with its share of the true label's pixels."""
    wrong = matrix.copy()
    np.fill_diagonal(wrong, 0)
    largest = np.argsort(-wrong, axis=None, kind="stable")[:MAX_CONFUSIONS]
    rows = [divmod(place, len(matrix)) for place in largest.tolist()]
    return [
        {
            "true": labels[true],
            "found": labels[found],
            "pixels": int(wrong[true, found]),
            "share": int(wrong[true, found]) / int(matrix[true].sum()),
        }
        for true, found in rows
        if wrong[true, found]
    ]
