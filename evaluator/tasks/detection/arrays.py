"""Detections in memory: boxes with scores, by class, by image, or in one table."""

from collections.abc import Sized

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.arrays import problems as kinds
from vocboard.evaluator.arrays.boxes import to_voc
from vocboard.evaluator.arrays.content import ArrayReader, Arrays
from vocboard.evaluator.arrays.detection_checks import GivenDetections, warn_of_detections
from vocboard.evaluator.arrays.instances import check_number, is_by_image, note_empty_classes, read_instances
from vocboard.evaluator.arrays.values import Values
from vocboard.evaluator.results import Detections, Entry


class DetectionArrays(ArrayReader):
    """`boxes` and `scores`, with `images` or `labels` unless the enclosing mapping provides them."""

    def read(self, content: object, arrays: Arrays) -> Entry | None:
        """Return the detections by class, in the given order."""
        classes, box_format = arrays.competition.classes, arrays.box_format or "voc"
        taken: dict[str, list[Detections]] = {}
        parts: list[GivenDetections] = []
        for names, instances in read_instances(content, "boxes", _read_boxes, arrays):
            given = instances.shape
            box = to_voc(given, box_format)
            label = instances.classes
            if label is None:
                label = np.full(len(given), classes.index(names[0]), dtype=np.int16)
            parts.append(GivenDetections(instances.image, label, instances.score, given, box))
            for name in names:
                own = taken.setdefault(name, [])
                mine = np.flatnonzero(label == classes.index(name))
                own.append(Detections(instances.image[mine], instances.score[mine], box[mine]))
        found = {name: _joined(taken[name]) for name in classes if name in taken}
        if parts:
            together = GivenDetections(*map(np.concatenate, zip(*parts, strict=True)))
            by_image = is_by_image(content, "boxes", arrays)
            complete = by_image and len(content) == len(arrays.items.images) if isinstance(content, Sized) else False
            if arrays.box_format is None and by_image and len(together.box):
                arrays.values().report.add(kinds.BOX_FORMAT_NOT_GIVEN)
            warn_of_detections(together, arrays.items, box_format, arrays.values(), images_are_complete=complete)
        for name, detections in found.items():
            check_number(name, detections.image, arrays)
        note_empty_classes({name: len(each.image) for name, each in found.items()}, arrays)
        return Entry(arrays.competition, tuple(found), found) if found else None


def _read_boxes(
    value: object, _images: NDArray[np.int32] | None, length: int | None, _arrays: Arrays, values: Values
) -> NDArray[np.float64] | None:
    """Return (n, 4) boxes as they are given; report problems and return None if they are invalid."""
    return values.numbers(value, "boxes", (length, 4))


def _joined(parts: list[Detections]) -> Detections:
    return Detections(
        image=np.concatenate([np.empty(0, dtype=np.int32), *(part.image for part in parts)]),
        confidence=np.concatenate([np.empty(0), *(part.confidence for part in parts)]),
        box=np.concatenate([np.empty((0, 4)), *(part.box for part in parts)]),
    )
