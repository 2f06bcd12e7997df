"""Numbers of images and objects of each class, as in the tables of the kits' documents.

As in the documents, difficult objects are not counted; images are counted if they have at least one other object.
Source: VOC2010 document, section 2, tables 1 to 4.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from vocboard.evaluator.editions import Edition, Task
from vocboard.evaluator.ground_truth.ground_truth import GroundTruth
from vocboard.evaluator.tasks.definitions import TASKS
from vocboard.evaluator.tasks.truth import ClassStatistics


@dataclass(frozen=True, slots=True)
class SetStatistics:
    """The statistics of a task's image set, by class and in total; in the total, each image counts once."""

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
    """Return the statistics of every task that has ground truth and a table of its own."""
    found = []
    for (task, name), secret in truth.truths.items():
        if TASKS[task].statistics is None:
            continue
        public = truth.image_sets.sets[task, name]
        counted = secret.statistics(public, edition)
        people = None if public.persons is None else len(public.persons)
        found.append(SetStatistics(task, name, len(public.images), people, counted.classes, counted.total))
    return found
