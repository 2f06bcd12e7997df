"""How many images and objects of each class an image set has: the tables of the kits' documents.

Objects are those that are not difficult, as in the documents; images those with at least one of these.
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
