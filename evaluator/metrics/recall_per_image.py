"""Recall if only the most confident results of each image are kept."""

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.metrics.precision_recall import Judgement


def recall_of_first(judgement: Judgement, place: NDArray[np.int64], number: int) -> float:
    """Return the recall of the most confident results of each image.

    Which object a result finds depends on no later one, so the others need not be judged again. Source: average recall
    of COCO, which averages it over overlaps: J. Hosang et al., "What Makes for Effective Detection Proposals?", PAMI
    2016.

    Args:
        judgement: results of one class by rank; ties keep the order of the file.
        place: (n,) of each result in its image; see `place_in_image`.
        number: how many results of each image are kept.

    Returns:
        A fraction; NaN without positives.
    """
    if not judgement.positives:
        return float("nan")
    return int(np.count_nonzero(judgement.true & (place < number))) / judgement.positives


def place_in_image(image: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return (n,) how many earlier elements have the same image.

    >>> place_in_image(np.array([5, 7, 5, 5])).tolist()
    [0, 0, 1, 2]
    """
    order = np.argsort(image, kind="stable")
    starts = np.flatnonzero(np.diff(image[order], prepend=-1))
    place = np.empty(len(image), dtype=np.int64)
    place[order] = np.arange(len(image)) - np.repeat(starts, np.diff(starts, append=len(image)))
    return place
