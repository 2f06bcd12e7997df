"""The content of valid result files, as columns."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.rules import Competition

# Called in several threads; what it returns is called in the order of the files, in one thread.
SegmentationSink = Callable[[Competition, int, NDArray[np.uint8]], Callable[[], object] | None]


@dataclass(frozen=True, eq=False, slots=True)
class Confidences:
    """Lines of one classification or action file.

    Attributes:
        item: (n,) int32 index into `ImageSet.images` (classification) or `ImageSet.persons` (action).
        confidence: (n,) float64, finite.
    """

    item: NDArray[np.int32]
    confidence: NDArray[np.float64]


@dataclass(frozen=True, eq=False, slots=True)
class Detections:
    """Lines of one detection file, in the order of the file.

    Attributes:
        image: (n,) int32 index into `ImageSet.images`.
        confidence: (n,) float64, finite.
        box: (n, 4) float64 left, top, right, bottom; 1-based, inclusive, in pixels.
    """

    image: NDArray[np.int32]
    confidence: NDArray[np.float64]
    box: NDArray[np.float64]


@dataclass(frozen=True, eq=False, slots=True)
class Layouts:
    """The layouts of one person layout file, in the order of the file.

    Attributes:
        image: (n,) int32 index into `ImageSet.images`.
        object: (n,) int32 1-based object index; None if people are identified by box (VOC2007).
        person_box: (n, 4) float64; None if people are identified by index.
        confidence: (n,) float64, finite.
        part_layout: (p,) int32 index of each part's layout, non-decreasing.
        part_type: (p,) int8 index into `Edition.parts`.
        part_box: (p, 4) float64, boxes as in `Detections`.
    """

    image: NDArray[np.int32]
    object: NDArray[np.int32] | None
    person_box: NDArray[np.float64] | None
    confidence: NDArray[np.float64]
    part_layout: NDArray[np.int32]
    part_type: NDArray[np.int8]
    part_box: NDArray[np.float64]


@dataclass(frozen=True, eq=False, slots=True)
class Segmented:
    """Which images have label maps; their pixels were passed to the reader's sink.

    Attributes:
        images: (n,) int32 indices into `ImageSet.images`.
    """

    images: NDArray[np.int32]


@dataclass(frozen=True, eq=False, slots=True)
class Entry:
    """The results of one competition.

    Attributes:
        classes: the classes entered, in the edition's order; for segmentation, those that the participant declared.
        content: depends on the task: `Confidences`, `Detections` or `Regions` by class, `Layouts`, `Segmented`.
    """

    competition: Competition
    classes: tuple[str, ...]
    content: Any


Results = Mapping[str, Entry]  # by competition key, in the edition's order
