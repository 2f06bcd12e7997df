"""The content of valid result files, as columns."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, slots=True)
class Regions:
    """Lines of one class's file, in the order of the file.

    Attributes:
        image: (n,) int32 index into `ImageSet.images`.
        confidence: (n,) float64, finite.
        run_start: (m,) int64 first pixel of each run inside of a region, pixels counted column by column; those of one
            region after another, increasing within one.
        run_stop: (m,) int64 the pixel after its last.
        run_end: (n,) int64 where the runs of each region end in `run_start` and `run_stop`.
    """

    image: NDArray[np.int32]
    confidence: NDArray[np.float64]
    run_start: NDArray[np.int64]
    run_stop: NDArray[np.int64]
    run_end: NDArray[np.int64]

    def runs(self, region: int) -> slice:
        """Return the positions of a region's runs."""
        return slice(int(self.run_end[region - 1]) if region else 0, int(self.run_end[region]))
