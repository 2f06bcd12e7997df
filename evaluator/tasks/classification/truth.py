"""Ground truth of classification and action: a label for each test item and class."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.results import Confidences
from vocboard.evaluator.rules import Edition
from vocboard.evaluator.tasks.truth import (
    Arrays,
    ClassCount,
    ClassStatistics,
    Truth,
    TruthStatistics,
    as_bytes,
    as_text,
    count,
)

POSITIVE, DIFFICULT, NEGATIVE = 1, 0, -1  # labels of per-class image sets


@dataclass(frozen=True, eq=False, slots=True)
class Labels:
    """The labels of the test items (images or people) for one class.

    Attributes:
        item: (n,) int32 index into `ImageSet.images` or `ImageSet.persons`, in the order of the class's own image set,
            which is the order that ties keep.
        label: (n,) int8: 1 positive, 0 only difficult objects (ignored), −1 negative.
    """

    item: NDArray[np.int32]
    label: NDArray[np.int8]

    def confidence(self, found: Confidences) -> NDArray[np.float64]:
        """Return the (n,) confidences of the items, in order; −∞ for items without one. Do not write to the array."""
        if np.array_equal(found.item, self.item):
            return found.confidence
        number_of_items = 1 + max(self.item.max(initial=-1), found.item.max(initial=-1))
        confidence = np.full(number_of_items, -np.inf)
        confidence[found.item.astype(np.intp)] = found.confidence  # three times as fast as with int32
        return confidence.take(self.item)


@dataclass(frozen=True, eq=False, slots=True)
class LabelTruth(Truth):
    """Ground truth of classification (items are images) or action (items are people)."""

    labels: Mapping[str, Labels]

    def arrays(self) -> Arrays:
        """Return the concatenated labels of all classes."""
        labels = list(self.labels.values())
        return {
            "classes": as_bytes("\n".join(self.labels)),
            "count": np.array([len(each.item) for each in labels], dtype=np.int64),
            "item": np.concatenate([each.item for each in labels]),
            "label": np.concatenate([each.label for each in labels]),
        }

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        """Create an object from the arrays of `arrays`."""
        ends = np.cumsum(arrays["count"])[:-1]
        columns = zip(np.split(arrays["item"], ends), np.split(arrays["label"], ends), strict=True)
        classes = as_text(arrays["classes"]).split("\n")
        return cls({name: Labels(item, label) for name, (item, label) in zip(classes, columns, strict=True)})

    def class_counts(self, edition: Edition) -> Mapping[str, ClassCount]:
        """Return the numbers of positive items and of items with only difficult objects, by class."""
        return {
            name: ClassCount(count(each.label == POSITIVE), count(each.label == DIFFICULT))
            for name, each in self.labels.items()
        }

    def statistics(self, public: ImageSet, edition: Edition) -> TruthStatistics:
        """Return how many images have each class; of people, how many there are and on how many images."""
        people = public.persons

        def of(items: NDArray[np.int32]) -> ClassStatistics:
            if people is None:
                return ClassStatistics(len(items), None)
            return ClassStatistics(len(np.unique(people[items, 0])), len(items))

        positive = {name: each.item[each.label == POSITIVE] for name, each in self.labels.items()}
        anything = np.unique(np.concatenate([np.empty(0, np.int32), *positive.values()]))
        return TruthStatistics({name: of(items) for name, items in positive.items()}, of(anything))
