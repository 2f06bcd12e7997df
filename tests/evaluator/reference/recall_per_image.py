"""Recall of the most confident detections of each image."""

import numpy as np

from tests.evaluator.reference.detection import Detection, Object, marks


def recall(found: list[Detection], objects: list[Object], number: int) -> float:
    images = {image for image, *_ in found}
    kept = [
        row
        for image in sorted(images)
        for row in sorted((each for each in found if each[0] == image), key=lambda each: -each[1])[:number]
    ]
    judged, positives = marks(kept, objects, with_difficult=False)
    return judged.count("true") / positives if positives else np.nan
