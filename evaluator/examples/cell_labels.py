"""Labels each cell of an image's grid by linear functions of the cell and its surroundings."""

from typing import Self

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.examples.features import CELLS, CellGrid, Features
from vocboard.evaluator.examples.ridge import Floats, Ridge
from vocboard.evaluator.metrics.confusion_matrix import VOID


class CellLabels:
    """Learns the labels of cells: 0 for background, then the classes."""

    def __init__(self, labels: int) -> None:
        """Take the number of labels."""
        self._labels = labels
        self._features: list[Features] = []
        self._targets: list[NDArray[np.float32]] = []
        self._ridge: Ridge | None = None

    def add(self, grid: CellGrid, label_map: NDArray[np.uint8]) -> None:
        """Add a training image and its (height, width) label map."""
        label = _of_cells(label_map).ravel()
        known = label != VOID
        self._features.append(_around(grid)[known])
        self._targets.append(np.eye(self._labels, dtype=np.float32)[label[known]])

    def learn(self) -> Self:
        """Learn from the training images."""
        target = np.concatenate(self._targets)
        # Labels have the weight of the root of their frequency: otherwise background would always score best.
        frequency = target.mean(axis=0)
        weight = target @ (1 / np.sqrt(np.maximum(frequency, 1e-6)))
        self._ridge = Ridge.fit(np.concatenate(self._features), target, weight.astype(np.float64))
        return self

    def scores(self, grid: CellGrid) -> Floats:
        """Return (CELLS, CELLS, labels) scores of an image's cells."""
        if self._ridge is None:
            raise ValueError("nothing has been learnt")
        return self._ridge.predict(_around(grid)).reshape(CELLS, CELLS, self._labels)


def _of_cells(label_map: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return (CELLS, CELLS) labels: the label of the pixel in the middle of each cell."""
    rows, columns = (((np.arange(CELLS) + 0.5) * side / CELLS).astype(np.intp) for side in label_map.shape)
    return label_map[np.ix_(rows, columns)]


def _around(grid: CellGrid) -> Features:
    """Return (CELLS * CELLS, d) features: each cell, its neighbourhoods of 3 and 7 cells, and its position."""
    y, x = (axis.ravel() for axis in np.mgrid[0:CELLS, 0:CELLS])
    centre = np.stack([x, y, x + 1, y + 1], axis=1) / CELLS
    near, far = (np.array([-1, -1, 1, 1]) * reach / CELLS for reach in (1, 3))
    own = grid.cells.reshape(CELLS * CELLS, -1)
    where = np.stack([x, y, x * x, y * y], axis=1) / CELLS
    return np.concatenate(
        [own, own**2, grid.pooled(centre + near, 1), grid.pooled(centre + far, 2), where], axis=1, dtype=np.float32
    )
