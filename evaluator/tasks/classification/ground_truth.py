"""Ground truth of classification: a label for each test image and class.

Labels come from the per-class image sets or, if the tree has none, from the annotations.
"""

import numpy as np

from vocboard.evaluator.image_sets import ImageSet, Key
from vocboard.evaluator.rules import TaskRules
from vocboard.evaluator.tasks.classification.truth import DIFFICULT, NEGATIVE, POSITIVE, Labels, LabelTruth
from vocboard.evaluator.tasks.image_set_files import Listed, file_of
from vocboard.evaluator.tasks.material import Material
from vocboard.evaluator.tasks.truth_reader import TruthReader


def _presence(listed: Listed, material: Material) -> dict[str, Labels]:
    """Derive labels: 1 if the image has a non-difficult object of the class, 0 if only difficult ones, −1 otherwise."""
    labels = {name: np.full(len(listed.images), NEGATIVE, dtype=np.int8) for name in material.edition.classes}
    for index, image in enumerate(listed.images):
        for item in material.objects(image):
            if item.name in labels:
                label = DIFFICULT if item.difficult else POSITIVE
                labels[item.name][index] = max(labels[item.name][index], label)
    items = np.arange(len(listed.images), dtype=np.int32)
    return {name: Labels(items, label) for name, label in labels.items()}


class ClassificationTruthReader(TruthReader[LabelTruth]):
    """Reads the ground truth of classification."""

    def read(self, key: Key, listed: Listed, rules: TaskRules, material: Material) -> tuple[ImageSet, LabelTruth | str]:
        """Return the public part and the labels by class, or why there are none."""
        image_set = ImageSet(listed.images, material.sizes(listed.images))
        lists = {name: file_of(material.edition, key, name) for name in material.edition.classes}
        derived: dict[str, Labels] = {}
        if not listed.images or not all(file in material.files for file in lists.values()):
            if reason := material.lacks_annotations(listed):
                return image_set, reason
            derived = _presence(listed, material)
        index = listed.index
        return image_set, LabelTruth(
            {
                name: material.files.image_labels(file, index) if file in material.files else derived[name]
                for name, file in lists.items()
            }
        )
