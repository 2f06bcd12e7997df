"""Example detector: a sliding window with typical sizes of objects, and a linear function for each class."""

import numpy as np

from vocboard.evaluator.conversion.boxes import ConvertedDetection
from vocboard.evaluator.conversion.decimals import decimal
from vocboard.evaluator.conversion.detections import result_files
from vocboard.evaluator.conversion.result_archive import Files
from vocboard.evaluator.editions import Competition
from vocboard.evaluator.examples.confidences import confidence
from vocboard.evaluator.examples.material import ExampleError, Material
from vocboard.evaluator.examples.windows import Examples
from vocboard.evaluator.ground_truth import DetectionTruth

MAX_KEPT = 5  # detections of a class in an image


def example_results(material: Material, competition: Competition) -> Files:
    """Train the detector on the training images, run it on the test images, and return result files."""
    truth = next(each for (task, _), each in material.train.truths.items() if task is material.task)
    assert isinstance(truth, DetectionTruth)  # noqa: S101  # of this task it is
    sizes = material.train_set.sizes
    if sizes is None:
        raise ExampleError("the annotations do not say how large the images are")
    sides = (truth.box[:, 2:] - truth.box[:, :2] + 1) / sizes[truth.image]
    examples = Examples(sides[~truth.difficult])
    for image, grid in material.grids(material.train_set.images):
        own = np.flatnonzero((truth.image == image) & ~truth.difficult)
        examples.add(grid, grid.fractions(truth.box[own]), truth.class_index[own])
    detector = examples.learn(len(competition.classes))
    most = dict.fromkeys(detector.kinds, MAX_KEPT)
    found: list[ConvertedDetection] = []
    for image, grid in material.grids(material.test_set.images):
        for kind, score, window in detector.find(grid, most):
            left, top, right, bottom = (decimal(f"{side:.1f}") for side in grid.pixels(window[None])[0].tolist())
            name, certain = material.test_set.images[image], decimal(confidence(score, competition))
            found.append(ConvertedDetection(name, competition.classes[kind], certain, (left, top, right, bottom)))
    return result_files(found, competition, [competition.classes[kind] for kind in detector.kinds])
