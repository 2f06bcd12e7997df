"""Kinds of the most confident false positives of a class.

Source: D. Hoiem, Y. Chodpathumwan and Q. Dai, "Diagnosing Error in Object Detectors", ECCV 2012, section 2.1.
"""

from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.diagnosis.errors import ERRORS, MIN_OVERLAP, Diagnosed, Error


class Kind(StrEnum):
    """The kind of a false positive. The first that applies, in this order."""

    LOCATION = "location"  # a duplicate, or overlaps an object of the class by at least a tenth
    SIMILAR = "similar"  # overlaps an object of a similar class by at least a tenth
    OTHER = "other"  # overlaps an object of another class by at least a tenth
    BACKGROUND = "background"


def kinds_of_first(results: Diagnosed) -> dict[Kind, int]:
    """Return how many of the first false positives are of each kind, as many as the class has objects."""
    first = np.flatnonzero(results.judgement.false)[: len(results.objects)]
    counts = np.bincount(kind_of(results, first), minlength=len(Kind))
    return dict(zip(Kind, counts.tolist(), strict=True))


def kind_of(results: Diagnosed, rank: NDArray[np.integer]) -> NDArray[np.integer]:
    """Return the kinds, as indices into `Kind`, of the results of some ranks; meaningless if they are right."""
    overlaps = results.overlaps
    applies = (
        (results.error[rank] == ERRORS.index(Error.DUPLICATE)) | (overlaps.overlap[rank] >= MIN_OVERLAP),
        overlaps.overlap_of_similar[rank] >= MIN_OVERLAP,
        overlaps.overlap_of_others[rank] >= MIN_OVERLAP,
    )
    return np.select(applies, range(len(applies)), default=len(applies))
