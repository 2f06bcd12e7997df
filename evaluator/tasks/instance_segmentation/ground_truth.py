"""Reads instances from `SegmentationObject/`, and their classes from `SegmentationClass/`.

Source: VOC2010 document section 5.1.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.image_sets import ImageSet, Key
from vocboard.evaluator.metrics.confusion_matrix import VOID
from vocboard.evaluator.metrics.label_runs import LabelRuns
from vocboard.evaluator.rules import TaskRules
from vocboard.evaluator.tasks.image_set_files import Listed
from vocboard.evaluator.tasks.instance_segmentation.truth import InstanceTruth
from vocboard.evaluator.tasks.material import Material
from vocboard.evaluator.tasks.segmentation.ground_truth import LABEL_MAP_FILE, read_map
from vocboard.evaluator.tasks.truth_reader import TruthReader

OBJECT_MAP_FILE = "SegmentationObject/{}.png"  # in a development kit tree
_MAX_INSTANCES = VOID - 1


@dataclass(slots=True)
class _Instances:
    """The data read so far."""

    runs: list[LabelRuns] = field(default_factory=list)
    image: list[int] = field(default_factory=list)
    number: list[int] = field(default_factory=list)
    class_index: list[int] = field(default_factory=list)


def _take(image: int, objects: NDArray[np.uint8], classes: NDArray[np.uint8], found: _Instances) -> Iterator[str]:
    """Add one image's instances, and yield problems. Pixels that are void in either map are void."""
    objects = np.where(classes == VOID, VOID, objects)
    for number in np.unique(objects[(objects > 0) & (objects < VOID)]).tolist():
        labels = np.unique(classes[objects == number]).tolist()
        if len(labels) != 1 or labels[0] == 0:
            yield f"object {number} has pixels of classes {labels} in SegmentationClass, expected one class"
            continue
        found.image.append(image)
        found.number.append(number)
        found.class_index.append(labels[0] - 1)
    found.runs.append(LabelRuns.of(np.ascontiguousarray(objects.T)))


class InstanceSegmentationTruthReader(TruthReader[InstanceTruth]):
    """Reads the ground truth of instance segmentation."""

    needs_annotations = False
    image_files = (OBJECT_MAP_FILE, LABEL_MAP_FILE)

    def read(
        self, key: Key, listed: Listed, rules: TaskRules, material: Material
    ) -> tuple[ImageSet, InstanceTruth | str]:
        """Return the public part and the instances, or why there are none."""
        if not listed.images:
            return ImageSet(()), "its image set is empty"
        for pattern in (OBJECT_MAP_FILE, LABEL_MAP_FILE):
            if not any(pattern.format(image) in material.image_files for image in listed.images):
                return ImageSet(listed.images), f"its images have no {pattern.partition('/')[0]}"
        found = _Instances()
        for image, name in enumerate(listed.images):
            objects = read_map(OBJECT_MAP_FILE.format(name), _MAX_INSTANCES, material)
            classes = read_map(LABEL_MAP_FILE.format(name), len(material.edition.classes), material)
            if objects is None or classes is None:
                continue
            if objects.shape != classes.shape:
                message = "has another size than the image's SegmentationClass"
                material.problems.add("bad_label_map", message, OBJECT_MAP_FILE.format(name))
                continue
            for message in _take(image, objects, classes, found):
                material.problems.add("bad_instance", message, OBJECT_MAP_FILE.format(name))
        truth = InstanceTruth(
            label=np.concatenate([np.empty(0, np.uint8), *(each.label for each in found.runs)]),
            last=np.concatenate([np.empty(0, np.int32), *(each.last for each in found.runs)]),
            end=np.cumsum([len(each.label) for each in found.runs], dtype=np.int64),
            size=np.array([each.shape for each in found.runs], dtype=np.int32).reshape(-1, 2),
            image=np.array(found.image, dtype=np.int32),
            number=np.array(found.number, dtype=np.uint8),
            class_index=np.array(found.class_index, dtype=np.int16),
        )
        return ImageSet(listed.images, truth.size), truth
