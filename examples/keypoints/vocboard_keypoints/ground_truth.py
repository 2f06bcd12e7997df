"""Reads ground truth from the files `Keypoints/<image>.txt` of a tree."""

import math

import numpy as np

from vocboard.evaluator.image_sets import ImageSet, Key
from vocboard.evaluator.rules import TaskRules
from vocboard.evaluator.tasks.image_set_files import Listed
from vocboard.evaluator.tasks.material import Material
from vocboard.evaluator.tasks.truth_reader import TruthReader
from vocboard_keypoints.definition import POINTS
from vocboard_keypoints.truth import KeypointTruth

FILE = "Keypoints/{}.txt"
_NUMBERS = 6 + 3 * POINTS  # area, crowd, box, points


def _numbers(fields: list[str]) -> list[float] | None:
    try:
        numbers = [float(field) for field in fields]
    except ValueError:
        return None
    return numbers if len(numbers) == _NUMBERS and all(map(math.isfinite, numbers)) else None


class KeypointTruthReader(TruthReader[KeypointTruth]):
    """Reads the people of each image."""

    needs_annotations = False
    image_files = (FILE,)

    def read(
        self, key: Key, listed: Listed, rules: TaskRules, material: Material
    ) -> tuple[ImageSet, KeypointTruth | str]:
        """Return the public part and the people, or why there are none."""
        if not listed.images:
            return ImageSet(()), "its image set is empty"
        images: list[int] = []
        classes: list[int] = []
        rows: list[list[float]] = []
        for image, name in enumerate(listed.images):
            file = FILE.format(name)
            content = material.image_files.get(file)
            if content is None:
                material.problems.add("missing_keypoints", "is not there, although its image is listed", file)
                continue
            for line, text in enumerate(content.decode("utf-8", "replace").splitlines(), start=1):
                fields = text.split()
                if not fields:
                    continue
                numbers = _numbers(fields[1:])
                if numbers is None:
                    message = f"expected a class and {_NUMBERS} numbers: area, crowd, box, {POINTS} points"
                    material.problems.add("bad_keypoints", message, file, line)
                elif fields[0] in material.edition.classes:  # others are ignored
                    images.append(image)
                    classes.append(material.edition.classes.index(fields[0]))
                    rows.append(numbers)
        table = np.array(rows, dtype=np.float64).reshape(-1, _NUMBERS)
        return ImageSet(listed.images), KeypointTruth(
            image=np.array(images, dtype=np.int32),
            class_index=np.array(classes, dtype=np.int16),
            area=table[:, 0].copy(),
            crowd=table[:, 1] != 0,
            box=table[:, 2:6].copy(),
            points=table[:, 6:].reshape(-1, POINTS, 3).copy(),
        )
