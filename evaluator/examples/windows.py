"""Sliding-window detector: windows of typical sizes, scored by linear functions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.examples.features import CellGrid, Features, Windows
from vocboard.evaluator.examples.ridge import Scorers

SHAPES = 10  # typical widths and heights
STEP = 1 / 10  # of the image, between windows
NEGATIVES = 16  # windows without an object from each training image, by default
POSITIVE_FROM = 0.6  # least overlap with a true box of a window that is an example of it
NEGATIVE_BELOW = 0.4
SUPPRESSED_ABOVE = 0.3  # overlap with a better window
PYRAMID = (1, 2, 3)  # parts of a window along each side

Boxes = NDArray[np.float64]
Floats = NDArray[np.float64]


class Examples:
    """Collects windows of training images, with and without objects."""

    def __init__(self, shapes: Floats, *, step_of_side: float | None = None, negatives: int = NEGATIVES) -> None:
        """Create the windows.

        Args:
            shapes: (n, 2) widths and heights of all true boxes, as fractions of the image.
            step_of_side: distance between windows as a fraction of their own sides, for small objects; by default, it
                is `STEP` for windows of all sizes.
            negatives: number of windows without an object to take from each training image.
        """
        self._random, self._negatives = np.random.default_rng(0), negatives
        self._windows = _windows(_typical(shapes, self._random), step_of_side)
        self._features: list[Features] = []
        self._kinds: list[NDArray[np.int64]] = []

    def add(self, grid: CellGrid, boxes: Boxes, kinds: NDArray[np.integer]) -> None:
        """Add a training image with its true boxes, (n, 4) fractions, and their kinds."""
        overlap = overlaps(self._windows, boxes)
        best = overlap.max(axis=1, initial=0)
        near = np.flatnonzero(best >= POSITIVE_FROM)
        far = np.flatnonzero(best < NEGATIVE_BELOW)
        far = self._random.choice(far, min(self._negatives, len(far)), replace=False)
        examples = np.concatenate([boxes, self._windows[near], self._windows[far]])
        own = np.asarray(kinds, dtype=np.int64)
        of_near = own[overlap[near].argmax(axis=1)] if len(near) else np.empty(0, np.int64)
        self._features.append(Windows.of(examples, PYRAMID).of_grid(grid))
        self._kinds.append(np.concatenate([own, of_near, np.full(len(far), -1)]))

    def learn(self, kinds: int) -> "Detector":
        """Fit a score of each kind that has an example."""
        features, kind = np.concatenate(self._features), np.concatenate(self._kinds)
        known = [index for index in range(kinds) if (kind == index).any()]
        rows = [overlaps(row, self._windows) >= SUPPRESSED_ABOVE for row in np.array_split(self._windows, 16)]
        suppressed = np.concatenate(rows)  # in blocks, because the overlaps of all pairs at once take much memory
        return Detector(
            tuple(known),
            Scorers.one_against_rest(features, kind, known),
            Windows.of(self._windows, PYRAMID),
            suppressed,
        )


@dataclass(frozen=True, eq=False, slots=True)
class Detector:
    """A trained detector.

    Attributes:
        kinds: kinds of objects that it detects.
        suppressed: (n, n) bool, whether two windows overlap too much to keep both.
    """

    kinds: tuple[int, ...]
    scorers: Scorers
    windows: Windows
    suppressed: NDArray[np.bool_]

    def find(
        self, grid: CellGrid, most: Mapping[int, int], prior: NDArray[np.float32] | None = None
    ) -> list[tuple[int, float, Boxes]]:
        """Return kind, score and box (fractions) of the best windows, up to `most` of each kind.

        Args:
            grid: the image.
            most: maximum number of each kind.
            prior: (n, k) added to the scores of each window and kind, in the order of `kinds`.
        """
        scores = self.scorers.predict(self.windows.of_grid(grid))
        if prior is not None:
            scores = scores + prior
        found = []
        for column, kind in enumerate(self.kinds):
            score = scores[:, column].copy()
            for _ in range(most[kind]):
                best = int(score.argmax())
                if score[best] == -np.inf:
                    break
                found.append((kind, float(score[best]), self.windows.boxes[best]))
                score[self.suppressed[best]] = -np.inf
        return found


def overlaps(boxes: Boxes, others: Boxes) -> Floats:
    """Return (n, m) intersection over union of boxes in fractions of the image."""
    low = np.maximum(boxes[:, None, :2], others[None, :, :2])
    high = np.minimum(boxes[:, None, 2:], others[None, :, 2:])
    met = np.clip(high - low, 0, None).prod(axis=2)
    areas = [(each[:, 2:] - each[:, :2]).prod(axis=1) for each in (boxes, others)]
    return np.asarray(met / np.maximum(areas[0][:, None] + areas[1][None] - met, 1e-12))


def _typical(shapes: Floats, random: np.random.Generator) -> Floats:
    """Return up to SHAPES widths and heights: the centres of clusters (k-means)."""
    if len(shapes) <= SHAPES:
        return shapes
    centres = shapes[random.choice(len(shapes), SHAPES, replace=False)]
    for _ in range(10):
        nearest = ((shapes[:, None] - centres[None]) ** 2).sum(axis=2).argmin(axis=1)
        groups: Sequence[Floats] = [shapes[nearest == number] for number in range(SHAPES)]
        centres = np.array([group.mean(axis=0) if len(group) else centres[k] for k, group in enumerate(groups)])
    return np.asarray(centres)


def _windows(shapes: Floats, step_of_side: float | None) -> Boxes:
    """Return (n, 4) boxes of the shapes at every step, as fractions of the image."""
    windows = []
    for width, height in np.clip(shapes, STEP / 2, 1).tolist():
        right, down = (STEP, STEP) if step_of_side is None else (step_of_side * width, step_of_side * height)
        for left in np.linspace(0, 1 - width, 1 + int((1 - width) / right)).tolist():
            for top in np.linspace(0, 1 - height, 1 + int((1 - height) / down)).tolist():
                windows.append((left, top, left + width, top + height))
    return np.array(windows).reshape(-1, 4)
