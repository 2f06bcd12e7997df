"""Example segmenter: every cell labelled by a linear function of itself and of its surroundings."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from vocboard.evaluator.conversion.painting import map_files
from vocboard.evaluator.conversion.result_archive import Files
from vocboard.evaluator.editions import Competition
from vocboard.evaluator.examples.features import CELLS, CellGrid, Features
from vocboard.evaluator.examples.material import ExampleError, Material
from vocboard.evaluator.examples.ridge import Ridge
from vocboard.evaluator.ground_truth import SegmentationTruth
from vocboard.evaluator.metrics.confusion_matrix import VOID


def segment(material: Material, competition: Competition) -> Files:
    """Learn the labels of cells, and return label maps."""
    truth = next(each for (task, _), each in material.train.truths.items() if task is material.task)
    assert isinstance(truth, SegmentationTruth)  # noqa: S101  # of this task it is
    labels = len(competition.classes) + 1
    features: list[Features] = []
    targets: list[NDArray[np.float32]] = []
    for image, grid in material.grids(material.train_set.images):
        label = _of_cells(truth.runs(image).pixels()).ravel()
        known = label != VOID
        features.append(_around(grid)[known])
        targets.append(np.eye(labels, dtype=np.float32)[label[known]])
    target = np.concatenate(targets)
    # Labels count by the root of their frequency: otherwise background, which is most of all images, is the best guess.
    frequency = target.mean(axis=0)
    weight = target @ (1 / np.sqrt(np.maximum(frequency, 1e-6)))
    ridge = Ridge.fit(np.concatenate(features), target, weight.astype(np.float64))
    sizes = material.test_set.sizes
    if sizes is None:
        raise ExampleError("the tree does not say how large its images are")
    images = material.test_set.images
    found: dict[str, NDArray[np.uint8]] = {}
    for image, grid in material.grids(images):
        cells = ridge.predict(_around(grid)).argmax(axis=1).reshape(CELLS, CELLS).astype(np.uint8)
        width, height = sizes[image].tolist()
        found[images[image]] = np.asarray(Image.fromarray(cells).resize((width, height), Image.Resampling.NEAREST))
    return map_files(competition, ((image, found[image]) for image in images))


def _of_cells(label_map: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return (CELLS, CELLS) labels: of each cell that of the pixel in its middle."""
    rows, columns = (((np.arange(CELLS) + 0.5) * side / CELLS).astype(np.intp) for side in label_map.shape)
    return label_map[np.ix_(rows, columns)]


def _around(grid: CellGrid) -> Features:
    """Return (CELLS * CELLS, d) features: each cell, its neighbourhoods of 3 and 7 cells, and where it is."""
    y, x = (axis.ravel() for axis in np.mgrid[0:CELLS, 0:CELLS])
    centre = np.stack([x, y, x + 1, y + 1], axis=1) / CELLS
    near, far = (np.array([-1, -1, 1, 1]) * reach / CELLS for reach in (1, 3))
    own = grid.cells.reshape(CELLS * CELLS, -1)
    where = np.stack([x, y, x * x, y * y], axis=1) / CELLS
    return np.concatenate(
        [own, own**2, grid.pooled(centre + near, 1), grid.pooled(centre + far, 2), where], axis=1, dtype=np.float32
    )
