"""What annotations say of objects besides class and box: whether they are truncated or occluded, and their view.

Stored ground truth does not have it, so only diagnoses of a development kit tree do.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.editions import Edition, Task
from vocboard.evaluator.image_sets import ImageSets
from vocboard.evaluator.viewing.scenes import Scenes, read_scenes

VIEWS = ("frontal", "left", "rear", "right", "unspecified")


@dataclass(frozen=True, eq=False, slots=True)
class Annotated:
    """The objects of one image set, in the order of `DetectionTruth`.

    Attributes:
        truncated: (n,) int64: 0 no, 1 yes.
        occluded: (n,) int64: 0 no, 1 yes. Annotations before VOC2008 do not have it: all are 0.
        view: (n,) int64 index into `VIEWS`.
    """

    truncated: NDArray[np.int64]
    occluded: NDArray[np.int64]
    view: NDArray[np.int64]


def read_annotated(
    tree: Path, edition: Edition, image_sets: ImageSets, progress: Callable[[int], None] | None = None
) -> dict[str, Annotated]:
    """Return the annotated objects of detection, by image set.

    Raises:
        GroundTruthError: the tree cannot be read, or annotations are invalid; lists all problems.
        OSError: the tree cannot be read.
    """
    scenes = read_scenes(tree, edition, image_sets, progress)
    return {
        name: annotated(scenes, image_set.images, edition)
        for (task, name), image_set in image_sets.sets.items()
        if task is Task.DETECTION
    }


def annotated(scenes: Scenes, images: tuple[str, ...], edition: Edition) -> Annotated:
    """Return what the annotations of some images say of their objects."""
    classes = set(edition.classes)
    objects = [
        each
        for image in images
        if image in scenes.records
        for each in scenes.records[image].objects
        if each.name in classes
    ]
    views = [(each.view or "").lower() for each in objects]
    return Annotated(
        truncated=np.array([each.flags.get("truncated", False) for each in objects], dtype=np.int64),
        occluded=np.array([each.flags.get("occluded", False) for each in objects], dtype=np.int64),
        view=np.array([VIEWS.index(view) if view in VIEWS else len(VIEWS) - 1 for view in views], dtype=np.int64),
    )
