"""Base class of what a page shows of the results of a task, with the marks that the evaluation gives them.

A result row is one row of the page: a detection, a region, a part of a layout, or the confidence of an image or person
for a class.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.diagnosis.errors import Diagnosed, diagnose
from vocboard.evaluator.editions import Competition, Edition
from vocboard.evaluator.ground_truth import GroundTruth
from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.results import Entry
from vocboard.evaluator.tasks.task_rows import ClassRows
from vocboard.evaluator.viewing.marks import Mark

NO_OBJECT = -1


@dataclass(frozen=True, eq=False, slots=True)
class ResultRows:
    """Some result rows of one class.

    Attributes:
        image: (n,) index into the image set.
        confidence: (n,) float64.
        mark: (n,) uint8 of `Mark`.
        object: (n,) index into the objects of the page; `NO_OBJECT` for none.
        box: (n, 4) float64; None if rows have no boxes.
        region: RLE of each row; None if rows are not regions.
    """

    class_index: int
    image: NDArray[np.integer]
    confidence: NDArray[np.float64]
    mark: NDArray[np.uint8]
    object: NDArray[np.integer]
    box: NDArray[np.float64] | None = None
    region: list[str] | None = None

    @classmethod
    def of(cls, found: ClassRows, mark: NDArray[np.uint8], objects: NDArray[np.integer]) -> "ResultRows":
        """Return rows with their marks and objects; without RLE."""
        return cls(found.class_index, found.image, found.confidence, mark, objects, found.box)


@dataclass(frozen=True, eq=False, slots=True)
class Page:
    """Reference for result rows: the ground truth and the objects of the page.

    Attributes:
        truth: the ground truth.
        detected: by image set, (m,) index into the page's objects of each object of its detection truth.
        first: index into the page's objects of the first object of each image, by image.
        boxes: (k, 4) of the page's objects.
    """

    edition: Edition
    truth: GroundTruth
    detected: Mapping[str, NDArray[np.int64]]
    first: Mapping[str, int]
    boxes: NDArray[np.float64]

    def objects(self, image_set: ImageSet, people: NDArray[np.integer]) -> NDArray[np.int64]:
        """Return (n,) indices of the page's objects for (n, 2) people by image and 1-based index."""
        first = np.array([self.first.get(name, NO_OBJECT) for name in image_set.images], dtype=np.int64)
        start = first[people[:, 0]]
        found = start + people[:, 1] - 1
        return np.where((start >= 0) & (found < len(self.boxes)), found, NO_OBJECT)

    def truth_of(self, competition: Competition) -> Any:
        """Return what a competition is scored against; None without ground truth."""
        return self.truth.truths.get((competition.task, competition.image_set))

    def diagnosed(self, entry: Entry) -> Mapping[str, Diagnosed]:
        """Return the kinds of errors of a competition's results by class; empty without ground truth."""
        truth = self.truth_of(entry.competition)
        found = None if truth is None else diagnose(entry, truth, self.edition)
        return {} if found is None else found.classes


class ResultView(ABC):
    """How pages show the results of one task. Each task has a subclass, unless its results are label maps.

    Attributes:
        kinds: marks that its rows can have, to filter by, as `assets/results.js` names them.
        annotated_by: what of an object has the names of its rows: `class`, `parts` or `actions`.
    """

    kinds: ClassVar[tuple[str, ...]]
    annotated_by: ClassVar[str] = "class"

    @abstractmethod
    def rows(self, entry: Entry, image_set: ImageSet, page: Page) -> Iterator[ResultRows]:
        """Yield the result rows of a competition's entry, class after class."""


def unjudged(count: int) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return the marks and objects of results without ground truth."""
    return np.full(count, Mark.UNJUDGED, dtype=np.uint8), np.full(count, NO_OBJECT, dtype=np.int64)
