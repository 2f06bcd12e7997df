"""The person of each layout."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.results import Layouts
from vocboard.evaluator.tasks.layout.truth import LayoutTruth


@dataclass(frozen=True, eq=False, slots=True)
class People:
    """The person that each layout is of.

    Attributes:
        person: (n,) index of a person of the truth.
        known: (n,) bool; if False, the person is unlisted and the index is meaningless.
    """

    person: NDArray[np.int64]
    known: NDArray[np.bool_]


def people_by_index(layouts: Layouts, truth: LayoutTruth) -> People:
    """Find the listed person of each layout by image and object index."""
    if layouts.object is None:
        raise ValueError("these layouts name no person by index")
    listed = _person_key(truth.image, truth.object)
    named = _person_key(layouts.image, layouts.object)
    if not len(listed):
        return People(np.zeros(len(named), dtype=np.int64), np.zeros(len(named), dtype=np.bool_))
    order = np.argsort(listed)
    position = order[np.minimum(np.searchsorted(listed[order], named), len(listed) - 1)]
    return People(position, listed[position] == named)


def _person_key(image: NDArray[np.int32], index: NDArray[np.int32]) -> NDArray[np.int64]:
    return image.astype(np.int64) << 32 | index
