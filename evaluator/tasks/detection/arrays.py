"""Detections in memory: boxes with scores, by class, by image, or in one table."""

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.arrays import problems as kinds
from vocboard.evaluator.arrays.boxes import to_voc, warn_of_boxes
from vocboard.evaluator.arrays.content import ArrayReader, Arrays
from vocboard.evaluator.arrays.instances import read_instances
from vocboard.evaluator.arrays.values import Values
from vocboard.evaluator.problems import quoted
from vocboard.evaluator.results import Detections, Entry


class DetectionArrays(ArrayReader):
    """`boxes` and `scores`, with `images` or `labels` unless the enclosing mapping provides them."""

    def read(self, content: object, arrays: Arrays) -> Entry | None:
        """Return the detections by class, in the given order."""
        classes = arrays.competition.classes
        taken: dict[str, list[Detections]] = {}
        given: dict[tuple[str, ...], list[Detections]] = {}  # of one class, or of all
        for names, instances in read_instances(content, "boxes", _read_boxes, arrays):
            box = instances.shape
            given.setdefault(names, []).append(Detections(instances.image, instances.score, box))
            for name in names:
                own = taken.setdefault(name, [])
                if instances.classes is None:
                    own.append(Detections(instances.image, instances.score, box))
                elif len(mine := np.flatnonzero(instances.classes == classes.index(name))):
                    own.append(Detections(instances.image[mine], instances.score[mine], box[mine]))
        found = {name: _joined(taken[name]) for name in classes if name in taken}
        for names, parts in given.items():
            together = _joined(parts)
            values = arrays.values(*names) if len(names) == 1 else arrays.values()
            warn_of_boxes(together.box, together.image, arrays.items, arrays.box_format, values)
        for name, detections in found.items():
            _check_number(name, detections, arrays)
        return Entry(arrays.competition, tuple(found), found) if found else None


def _read_boxes(
    value: object, _images: NDArray[np.int32] | None, length: int | None, arrays: Arrays, values: Values
) -> NDArray[np.float64] | None:
    """Return (n, 4) boxes in VOC's convention; report problems and return None if they are invalid."""
    given = values.numbers(value, "boxes", (length, 4))
    return None if given is None else to_voc(given, arrays.box_format)


def _joined(parts: list[Detections]) -> Detections:
    return Detections(
        image=np.concatenate([np.empty(0, dtype=np.int32), *(part.image for part in parts)]),
        confidence=np.concatenate([np.empty(0), *(part.confidence for part in parts)]),
        box=np.concatenate([np.empty((0, 4)), *(part.box for part in parts)]),
    )


def _check_number(name: str, detections: Detections, arrays: Arrays) -> None:
    if not len(detections.image):
        arrays.values(name).report.add(kinds.EMPTY)
    limit = arrays.edition.limits.detections_per_image
    counts = np.bincount(detections.image, minlength=1)
    for image in np.flatnonzero(counts > limit).tolist():
        named = quoted(arrays.items.images.listed()[image])
        kind, count = kinds.TOO_MANY_DETECTIONS, int(counts[image])
        arrays.values(name).report.add(kind, image=named, count=count, limit=limit)
