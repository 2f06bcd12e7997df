"""Results as rows, class after class: what pages of `vocboard view` and a server's showcase draw.

It reads no ground truth. A row is a detection, a region, a part of a layout, or the confidence of an image or person
for a class. Label maps have no rows.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.metrics.precision_recall import by_confidence
from vocboard.evaluator.results import Entry
from vocboard.evaluator.rules import Competition, Edition

Images = NDArray[np.integer] | None  # indices of the only images whose rows are wanted; None for all


@dataclass(frozen=True, eq=False, slots=True)
class ClassRows:
    """Some rows of one class, by decreasing confidence.

    Attributes:
        class_index: index into `TaskRows.names`.
        source: (n,) index of each row in what was read: a line of the class's file, or a part of a layout.
        image: (n,) index into the image set.
        confidence: (n,) float64.
        box: (n, 4) float64 as in `Detections`; None if results have no boxes.
        region: the starts and stops of the runs of each row, as in `Regions`; None if rows are not regions.
        person: (n,) 1-based object index of the person in the image; None if rows are not about people.
    """

    class_index: int
    source: NDArray[np.integer]
    image: NDArray[np.integer]
    confidence: NDArray[np.float64]
    box: NDArray[np.float64] | None = None
    region: Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]] | None = None
    person: NDArray[np.integer] | None = None


class TaskRows(ABC):
    """The rows of one task's results. Each task has a subclass, unless its results are label maps.

    Attributes:
        are_of_every_class: whether each image or person has a row for every class, rather than for what was found.
    """

    are_of_every_class: ClassVar[bool] = False

    @abstractmethod
    def rows(self, entry: Entry, edition: Edition, image_set: ImageSet, images: Images = None) -> Iterator[ClassRows]:
        """Yield the rows of a competition's entry, class after class."""

    def names(self, competition: Competition, edition: Edition) -> tuple[str, ...]:
        """Return the names of the class indices of rows."""
        return competition.classes


def ranked(image: NDArray[np.integer], confidence: NDArray[np.float64], images: Images) -> NDArray[np.integer]:
    """Return the indices of the rows of some images, by decreasing confidence."""
    if images is None:
        return by_confidence(confidence)
    own = np.flatnonzero(np.isin(image, images))
    return own[by_confidence(confidence[own])]
