"""How many images and objects of each class an image set has: the tables of the kits' documents.

Objects are those that are not difficult, as in the documents; images those with at least one of these.
Source: VOC2010 document, section 2, tables 1 to 4.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from vocboard.evaluator.editions import Edition, Task
from vocboard.evaluator.ground_truth import (
    DetectionTruth,
    GroundTruth,
    LabelTruth,
    LayoutTruth,
    SegmentationTruth,
    Truth,
)
from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.tasks.classification.truth import POSITIVE
from vocboard.evaluator.tasks.instance_segmentation.truth import InstanceTruth


@dataclass(frozen=True, slots=True)
class ClassStatistics:
    """One class in one image set.

    Attributes:
        images: with at least one object (detection), labelled pixel (segmentation), or person (action, layout).
        objects: not difficult; people for actions, parts for layout; None for segmentation.
        difficult: objects; None where the task knows none.
    """

    images: int
    objects: int | None
    difficult: int | None = None


@dataclass(frozen=True, slots=True)
class SetStatistics:
    """One task's image set: its classes and, over all of them, `total`, where an image counts once."""

    task: Task
    image_set: str
    images: int
    people: int | None
    classes: Mapping[str, ClassStatistics]
    total: ClassStatistics

    def as_json(self) -> dict[str, Any]:
        """Return all of it."""
        return {**asdict(self), "task": self.task.value}


def statistics(truth: GroundTruth, edition: Edition) -> list[SetStatistics]:
    """Return the statistics of every task that has ground truth; classification has detection's."""
    found = []
    for (task, name), secret in truth.truths.items():
        if task is not Task.CLASSIFICATION:
            public = truth.image_sets.sets[task, name]
            classes, total = _classes(secret, public, edition)
            people = None if public.persons is None else len(public.persons)
            found.append(SetStatistics(task, name, len(public.images), people, classes, total))
    return found


def _classes(truth: Truth, public: ImageSet, edition: Edition) -> tuple[dict[str, ClassStatistics], ClassStatistics]:
    match truth:
        case DetectionTruth() | InstanceTruth():
            return _of_objects(truth, edition.classes)
        case SegmentationTruth():
            shown = [set(np.unique(truth.runs(image).label).tolist()) for image in range(len(truth))]
            classes = {
                name: ClassStatistics(sum(label in labels for labels in shown), None)
                for label, name in enumerate(edition.classes, start=1)
            }
            labels = set(range(1, len(edition.classes) + 1))
            return classes, ClassStatistics(sum(bool(labels & own) for own in shown), None)
        case LayoutTruth():
            classes = {
                name: ClassStatistics(
                    len(np.unique(truth.image[truth.part_person[truth.part_type == index]])),
                    int(np.count_nonzero(truth.part_type == index)),
                )
                for index, name in enumerate(edition.parts)
            }
            return classes, ClassStatistics(len(np.unique(truth.image[truth.part_person])), len(truth.part_type))
        case LabelTruth():
            return _of_actions(truth, public)
    raise TypeError(f"{type(truth).__name__} has no statistics")


def _of_objects(
    truth: DetectionTruth | InstanceTruth, names: tuple[str, ...]
) -> tuple[dict[str, ClassStatistics], ClassStatistics]:
    classes = {}
    for index, name in enumerate(names):
        own = truth.class_index == index
        counted = own & ~truth.difficult
        images, objects = len(np.unique(truth.image[counted])), int(np.count_nonzero(counted))
        classes[name] = ClassStatistics(images, objects, int(np.count_nonzero(own & truth.difficult)))
    total = ClassStatistics(
        len(np.unique(truth.image[~truth.difficult])),
        int(np.count_nonzero(~truth.difficult)),
        int(np.count_nonzero(truth.difficult)),
    )
    return classes, total


def _of_actions(truth: LabelTruth, public: ImageSet) -> tuple[dict[str, ClassStatistics], ClassStatistics]:
    image_of = np.empty(0, np.int32) if public.persons is None else public.persons[:, 0]
    performing = {name: labels.item[labels.label == POSITIVE] for name, labels in truth.labels.items()}
    classes = {
        name: ClassStatistics(len(np.unique(image_of[people])), len(people)) for name, people in performing.items()
    }
    anybody = np.unique(np.concatenate(list(performing.values()))) if performing else np.empty(0, np.int32)
    return classes, ClassStatistics(len(np.unique(image_of[anybody])), len(anybody))
