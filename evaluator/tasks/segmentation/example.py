"""Example segmenter: labels each cell of a grid by linear functions of the cell and its surroundings."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from vocboard.evaluator.conversion.painting import map_files
from vocboard.evaluator.conversion.result_archive import Files
from vocboard.evaluator.editions import Competition
from vocboard.evaluator.examples.cell_labels import CellLabels
from vocboard.evaluator.examples.material import ExampleError, Material
from vocboard.evaluator.ground_truth import SegmentationTruth


def example_results(material: Material, competition: Competition) -> Files:
    """Learn the labels of cells, and return the label maps of the test images."""
    truth = next(each for (task, _), each in material.train.truths.items() if task is material.task)
    assert isinstance(truth, SegmentationTruth)  # noqa: S101  # of this task it is
    labels = CellLabels(len(competition.classes) + 1)
    for image, grid in material.grids(material.train_set.images):
        labels.add(grid, truth.runs(image).pixels())
    labels.learn()
    sizes = material.test_set.sizes
    if sizes is None:
        raise ExampleError("the tree does not say how large its images are")
    images = material.test_set.images
    found: dict[str, NDArray[np.uint8]] = {}
    for image, grid in material.grids(images):
        cells = labels.scores(grid).argmax(axis=2).astype(np.uint8)
        width, height = sizes[image].tolist()
        found[images[image]] = np.asarray(Image.fromarray(cells).resize((width, height), Image.Resampling.NEAREST))
    return map_files(competition, ((image, found[image]) for image in images))
