"""What is public of a test set: image identifiers, image sizes and person indices.

Kept apart from the ground truth, and all that validation of an upload uses.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from numpy.typing import NDArray
import numpy as np

from evaluator.editions import Task


@dataclass(frozen=True, eq=False, slots=True)
class ImageSet:
    """The test items of one task.

    Attributes:
        images: identifiers, in the order of the image set file.
        sizes: (n, 2) int32, width and height in pixels; None where unknown (a tree without annotations and images).
        persons: (m, 2) int32, for the tasks that name people: index into `images`, and the 1-based object index in
            that image's annotation; in the order of the image set file. None for the other tasks.
    """

    images: tuple[str, ...]
    sizes: NDArray[np.int32] | None = None
    persons: NDArray[np.int32] | None = None


@dataclass(frozen=True, eq=False, slots=True)
class ImageSets:
    """The image sets of an edition's test data, by task and set name (`test`)."""

    edition: str
    sets: Mapping[tuple[Task, str], ImageSet]
