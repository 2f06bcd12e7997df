"""Summaries of ground truth, with which organisers can check it."""

from collections.abc import Mapping
from dataclasses import dataclass

from vocboard.evaluator.editions import Edition, Task
from vocboard.evaluator.ground_truth.ground_truth import GroundTruth
from vocboard.evaluator.tasks.truth import ClassCount


@dataclass(frozen=True, slots=True)
class TaskSummary:
    """The summary of a task's ground truth.

    Attributes:
        images: in the image set.
        people: number of listed people; None for tasks without people.
        classes: counts by class; empty for segmentation.
        missing: why the task cannot be scored; None if it can.
    """

    task: Task
    image_set: str
    images: int
    people: int | None
    classes: Mapping[str, ClassCount]
    missing: str | None


def summarise(truth: GroundTruth, edition: Edition) -> tuple[TaskSummary, ...]:
    """Return a summary of each of the edition's tasks, in the edition's order."""
    keys = dict.fromkeys((c.task, c.image_set) for c in edition.competitions.values())
    summaries = []
    for key in keys:
        public, secret = truth.image_sets.sets.get(key), truth.truths.get(key)
        summaries.append(
            TaskSummary(
                task=key[0],
                image_set=key[1],
                images=len(public.images) if public else 0,
                people=len(public.persons) if public and public.persons is not None else None,
                classes=secret.class_counts(edition) if secret else {},
                missing=truth.missing.get(key),
            )
        )
    return tuple(summaries)
