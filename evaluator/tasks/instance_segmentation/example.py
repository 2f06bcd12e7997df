"""Example of instance segmentation: within the detector's windows, the cells that score higher than background."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from vocboard.evaluator.conversion.coco_masks import box_of
from vocboard.evaluator.conversion.result_archive import Files
from vocboard.evaluator.editions import Competition
from vocboard.evaluator.examples.cell_labels import CellLabels
from vocboard.evaluator.examples.confidences import confidence
from vocboard.evaluator.examples.features import CELLS
from vocboard.evaluator.examples.material import ExampleError, Material
from vocboard.evaluator.examples.ridge import Floats
from vocboard.evaluator.examples.windows import Examples
from vocboard.evaluator.metrics.confusion_matrix import VOID
from vocboard.evaluator.result_files.names import expected_name
from vocboard.evaluator.tasks.instance_segmentation import rle
from vocboard.evaluator.tasks.instance_segmentation.truth import InstanceTruth

MAX_KEPT = 3  # regions of a class in an image
MIN_FILLED = 0.2  # of a window, by cells of the class; otherwise the region is the whole window

Mask = NDArray[np.bool_]


def example_results(material: Material, competition: Competition) -> Files:
    """Train the detector and the labels of cells, and return the result files of the test images."""
    truth = next(each for (task, _), each in material.train.truths.items() if task is material.task)
    assert isinstance(truth, InstanceTruth)  # noqa: S101  # of this task it is
    sizes = material.test_set.sizes
    if sizes is None:
        raise ExampleError("the tree does not say how large its images are")
    boxes = {image: _boxes(truth, image) for image in range(len(truth.size))}
    sides = [(box[:, 2:] - box[:, :2] + 1) / truth.size[image] for image, (box, _) in boxes.items()]
    examples, labels = Examples(np.concatenate(sides)), CellLabels(len(competition.classes) + 1)
    for image, grid in material.grids(material.train_set.images):
        box, kinds = boxes[image]
        examples.add(grid, grid.fractions(box), kinds)
        labels.add(grid, _class_map(truth, image))
    detector = examples.learn(len(competition.classes))
    labels.learn()
    lines: dict[int, list[str]] = {kind: [] for kind in detector.kinds}
    for image, grid in material.grids(material.test_set.images):
        width, height = sizes[image].tolist()
        scores = labels.scores(grid)
        for kind, score, window in detector.find(grid, dict.fromkeys(detector.kinds, MAX_KEPT)):
            region = _resized(_within(window, scores, kind + 1), width, height)
            text = rle.encode(rle.lengths_of(region))
            lines[kind].append(f"{material.test_set.images[image]} {confidence(score, competition)} {text}\n")
    return [
        (expected_name(competition, competition.classes[kind]), "".join(of_kind).encode())
        for kind, of_kind in lines.items()
    ]


def _masks(truth: InstanceTruth, image: int) -> Iterator[tuple[int, Mask]]:
    """Yield class and (height, width) pixels of an image's instances."""
    labels = truth.runs(image).pixels().T
    for place in np.flatnonzero(truth.image == image).tolist():
        yield int(truth.class_index[place]), labels == truth.number[place]


def _boxes(truth: InstanceTruth, image: int) -> tuple[Floats, NDArray[np.int64]]:
    """Return (n, 4) boxes around an image's instances, and their (n,) classes."""
    found = [(kind, box_of(mask)) for kind, mask in _masks(truth, image)]
    boxes = np.array([box for _, box in found], dtype=np.float64).reshape(-1, 4)
    return boxes, np.array([kind for kind, _ in found], dtype=np.int64)


def _class_map(truth: InstanceTruth, image: int) -> NDArray[np.uint8]:
    """Return the (height, width) labels of classes: 0 background, 255 void."""
    classes = np.where(truth.runs(image).pixels().T == VOID, VOID, 0).astype(np.uint8)
    for kind, mask in _masks(truth, image):
        classes[mask] = kind + 1
    return classes


def _within(window: Floats, scores: Floats, label: int) -> Mask:
    """Return (CELLS, CELLS) cells of a window that score higher as its class than as background."""
    left, top, right, bottom = np.rint(np.clip(window, 0, 1) * CELLS).astype(int).tolist()
    inside = np.zeros((CELLS, CELLS), dtype=np.bool_)
    inside[top : max(bottom, top + 1), left : max(right, left + 1)] = True
    likely = inside & (scores[:, :, label] > scores[:, :, 0])
    return likely if likely.sum() >= MIN_FILLED * inside.sum() else inside


def _resized(cells: Mask, width: int, height: int) -> Mask:
    picture = Image.fromarray(cells.astype(np.uint8)).resize((width, height), Image.Resampling.NEAREST)
    return np.asarray(picture, dtype=np.bool_)
