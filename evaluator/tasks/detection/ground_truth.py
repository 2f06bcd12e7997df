"""Ground truth of detection: the boxes of annotated objects."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.image_sets import ImageSet, Key
from vocboard.evaluator.rules import TaskRules
from vocboard.evaluator.tasks.detection.subsets import NO, UNKNOWN, VIEWS, YES
from vocboard.evaluator.tasks.detection.truth import DetectionTruth
from vocboard.evaluator.tasks.image_set_files import Listed
from vocboard.evaluator.tasks.material import Material, box_array
from vocboard.evaluator.tasks.truth_reader import TruthReader

_VIEWS = {name: index for index, name in enumerate(VIEWS)}


def _flags(stated: Iterable[bool | None]) -> NDArray[np.uint8]:
    return np.array([UNKNOWN if each is None else YES if each else NO for each in stated], dtype=np.uint8)


class DetectionTruthReader(TruthReader[DetectionTruth]):
    """Reads the ground truth of detection."""

    def read(
        self, key: Key, listed: Listed, rules: TaskRules, material: Material
    ) -> tuple[ImageSet, DetectionTruth | str]:
        """Return the public part and the objects of the edition's classes, or why there are none.

        Objects of other classes are ignored.
        """
        image_set = ImageSet(listed.images, material.sizes(listed.images))
        if reason := material.lacks_annotations(listed):
            return image_set, reason
        class_index = {name: index for index, name in enumerate(material.edition.classes)}
        found = [
            (image, class_index[item.name], item)
            for image, name in enumerate(listed.images)
            for item in material.objects(name)
            if item.name in class_index
        ]
        return image_set, DetectionTruth(
            image=np.array([image for image, _, _ in found], dtype=np.int32),
            class_index=np.array([index for _, index, _ in found], dtype=np.int16),
            box=box_array([item.box for _, _, item in found]),
            difficult=np.array([item.difficult for _, _, item in found], dtype=np.bool_),
            truncated=_flags(item.truncated for _, _, item in found),
            occluded=_flags(item.occluded for _, _, item in found),
            view=np.array([_VIEWS.get(item.view.lower(), 0) for _, _, item in found], dtype=np.uint8),
        )
