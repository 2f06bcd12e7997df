"""Bounding box regression: corrects a box step by step, each time from a crop around the last one.

Each step is a ridge regression from the features of the crop to the box in it, as in cascaded pose regression
(P. Dollar, P. Welinder and P. Perona, CVPR 2010) and in R-CNN (R. Girshick et al., CVPR 2014).
"""

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.examples.features import CellGrid, Features
from vocboard.evaluator.examples.frames import frame_around, from_frame, to_frame
from vocboard.evaluator.examples.ridge import Ridge

MARGIN = 0.75  # of the crop on each side, as a fraction of the box
DISPLACEMENTS = (0.3, 0.15, 0.08)  # standard deviations in each step, as fractions of the box's sides
SAMPLES = 4  # displaced boxes of each true box, in each step
PARTS = 8  # of the crop, along each side
WHOLE = np.array([[0.0, 0, 1, 1]])  # the crop, as fractions of itself

Boxes = NDArray[np.float64]


class BoxRefiner:
    """Learns to correct boxes of one kind of object."""

    def __init__(self) -> None:
        self._random = np.random.default_rng(0)
        self._features: list[list[Features]] = [[] for _ in DISPLACEMENTS]
        self._targets: list[list[Boxes]] = [[] for _ in DISPLACEMENTS]
        self._steps: list[Ridge] = []

    def add(self, picture: bytes, box: Boxes) -> None:
        """Add a true box, (4,) in VOC's coordinates, with its image file."""
        for step, displacement in enumerate(DISPLACEMENTS):
            for _ in range(SAMPLES):
                frame = frame_around(self._displaced(box, displacement), MARGIN)
                self._features[step].append(_features(picture, frame))
                self._targets[step].append(to_frame(box[None], frame)[0])

    def learn(self) -> None:
        """Fit the steps to the boxes added; without boxes, `refine` changes nothing."""
        pairs = zip(self._features, self._targets, strict=True)
        self._steps = [Ridge.fit(np.array(features), np.array(targets)) for features, targets in pairs if features]

    def refine(self, picture: bytes, box: Boxes) -> Boxes:
        """Return (4,) a corrected box, in VOC's coordinates."""
        for step in self._steps:
            frame = frame_around(box, MARGIN)
            box = from_frame(step.predict(_features(picture, frame)[None])[0], frame)
        return box

    def _displaced(self, box: Boxes, displacement: float) -> Boxes:
        """Return a box with another centre and other sides."""
        sides = box[2:] - box[:2]
        centre = (box[:2] + box[2:]) / 2 + self._random.normal(0, displacement, 2) * sides
        half = sides * np.exp(self._random.normal(0, displacement, 2)) / 2
        return np.concatenate([centre - half, centre + half])


def _features(picture: bytes, frame: Boxes) -> Features:
    return np.asarray(CellGrid.of_part(picture, frame).pooled(WHOLE, PARTS)[0])
