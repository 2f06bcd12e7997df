"""Lossless run-length encoding of label maps."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, slots=True)
class LabelRuns:
    """A label map as runs in row order; runs can continue in the next row.

    Attributes:
        label: (n,) uint8 label of each run.
        last: (n,) int32 index of each run's last pixel, increasing; the last one is the map's last pixel.
        shape: height and width in pixels.
    """

    label: NDArray[np.uint8]
    last: NDArray[np.int32]
    shape: tuple[int, int]

    @classmethod
    def of(cls, label_map: NDArray[np.uint8]) -> Self:
        """Take a (height, width) label map apart.

        >>> runs = LabelRuns.of(np.array([[0, 0, 3], [3, 3, 0]], dtype=np.uint8))
        >>> runs.label.tolist(), runs.last.tolist()
        ([0, 3, 0], [1, 4, 5])
        """
        height, width = label_map.shape
        pixels = label_map.ravel()
        last = np.append(changes(pixels), len(pixels) - 1).astype(np.int32) if len(pixels) else np.empty(0, np.int32)
        return cls(pixels[last], last, (height, width))

    def pixels(self) -> NDArray[np.uint8]:
        """Return the decoded (height, width) label map."""
        return np.repeat(self.label, np.diff(self.last, prepend=-1)).reshape(self.shape)


def changes(pixels: NDArray[np.uint8]) -> NDArray[np.intp]:
    """Return the increasing indices of pixels in (n,) labels whose successor has another label."""
    return np.flatnonzero(pixels[1:] != pixels[:-1])
