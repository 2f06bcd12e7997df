"""Detection."""

from tests.evaluator.reference.overlap import Box, overlap

Detection = tuple[str, float, Box]  # image, confidence, box
Object = tuple[str, Box, bool]  # image, box, difficult


def marks(
    detections: list[Detection],
    objects: list[Object],
    with_difficult: bool,
    *,
    must_exceed: bool = False,
    difficult_excuses_one: bool = False,
) -> tuple[list[str], int]:
    """Marks by rank and the number of positives.

    Args:
        with_difficult: whether difficult objects are like all others.
        must_exceed: whether an overlap of exactly one half is too little (ParallelEye).
        difficult_excuses_one: whether only the first detection of a difficult object is ignored (VOC2006).
    """
    taken: set[int] = set()
    result = []
    for image, _, box in sorted(detections, key=lambda detection: -detection[1]):
        best, best_overlap = None, 0.0
        for number, (object_image, object_box, _) in enumerate(objects):
            found = overlap(box, object_box) if object_image == image else None
            if found is not None and found > best_overlap:
                best, best_overlap = number, found
        if best is None or best_overlap < 0.5 or (must_exceed and best_overlap == 0.5):
            result.append("false")
        elif objects[best][2] and not with_difficult:
            result.append("false" if difficult_excuses_one and best in taken else "ignored")
            taken.add(best)
        elif best in taken:
            result.append("false")
        else:
            taken.add(best)
            result.append("true")
    return result, len([1 for _, _, difficult in objects if with_difficult or not difficult])
