"""The content of valid result files, as columns."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, slots=True)
class People:
    """Lines of one class's file, in the order of the file.

    Attributes:
        image: (n,) int32 index into `ImageSet.images`.
        confidence: (n,) float64, finite.
        points: (n, 34) float64, x and y of each keypoint in turn.
    """

    image: NDArray[np.int32]
    confidence: NDArray[np.float64]
    points: NDArray[np.float64]
