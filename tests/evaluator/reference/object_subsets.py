"""Scores of detections by some objects of a class."""

from tests.evaluator.reference.average_precision import average_precision
from tests.evaluator.reference.detection import Detection, Object
from tests.evaluator.reference.overlap import Box, overlap
from vocboard.evaluator.editions import TaskRules
from vocboard.evaluator.metrics.matches import OVERLAPS
from vocboard.evaluator.tasks.detection.subsets import AREAS, Characteristic, Subset

Annotated = tuple[str, Box, bool, int, int, int]  # image, box, difficult, truncated, occluded, view
FLAGS = {Characteristic.TRUNCATION: 3, Characteristic.OCCLUSION: 4, Characteristic.VIEW: 5}  # elements of these

Found = tuple[str, int | None, Box]  # mark, the object that it is about, box of the detection


def found_objects(detections: list[Detection], objects: list[Object], least: float) -> list[Found]:
    """Each detection by rank: true, false or ignored, by all objects."""
    taken: set[int] = set()
    result: list[Found] = []
    for image, _, box in sorted(detections, key=lambda detection: -detection[1]):
        best, most = None, 0.0
        for number, (where, other, _) in enumerate(objects):
            shared = overlap(box, other) if where == image else None
            if shared is not None and shared > most:
                best, most = number, shared
        if best is None or most < least:
            result.append(("false", None, box))
        elif objects[best][2]:
            result.append(("ignored", best, box))
        else:
            result.append(("false" if best in taken else "true", best, box))
            taken.add(best)
    return result


def normalised(found: list[Found], subset: set[int], normal: float) -> float | None:
    """Hoiem et al.: true positives of other objects are left out; precision is as if there were `normal` objects."""
    if not subset:
        return None
    points, right, wrong = [], 0, 0
    for mark, number, _ in found:
        if mark == "true" and number not in subset:
            continue
        right, wrong = right + (mark == "true"), wrong + (mark == "false")
        recall = right / len(subset)
        points.append((recall, recall * normal / (recall * normal + wrong) if right or wrong else 0.0))
    return sum(max(p for r, p in points if r >= n / len(subset)) / len(subset) for n in range(1, right + 1))


def by_area(found: list[Found], subset: set[int], least: float, most: float) -> list[str]:
    """COCO: marks of the results that count; false ones only if their own area is in the range."""
    marks = []
    for mark, number, (left, top, right, bottom) in found:
        if mark == "true" and number in subset:
            marks.append("true")
        if mark == "false" and least <= (right - left + 1) * (bottom - top + 1) <= most:
            marks.append("false")
    return marks


def fifth(values: list[float], value: float) -> int:
    """0 if a value is among the first 10 % of those that count, 1 among the next 20 %, then 40, 20 and 10 %."""
    ordered = sorted(values)
    ends = [ordered[max(int(share * len(values) + 0.5), 1) - 1] for share in (0.1, 0.3, 0.7, 0.9)]
    return sum(value > end for end in ends)


def of_objects(
    subset: Subset, found: list[Detection], objects: list[Annotated], rules: TaskRules, normal: float
) -> tuple[float | None, int]:
    """The metric of a subset of one class, and the number of objects in it."""
    plain = [each[:3] for each in objects]
    counted = [place for place, each in enumerate(objects) if not each[2]]
    sides = [(right - left + 1, bottom - top + 1) for _, (left, top, right, bottom), *_ in objects]
    if subset.characteristic is Characteristic.AREA:
        least, most = AREAS[subset.values[0]]
        chosen = {place for place in counted if least <= sides[place][0] * sides[place][1] <= most}
        marks = [by_area(found_objects(found, plain, each), chosen, least, most) for each in OVERLAPS]
        scores = [average_precision(each, len(chosen), rules) or 0.0 for each in marks]
        return (sum(scores) / len(scores) if chosen else None), len(chosen)
    if subset.characteristic in FLAGS:
        values = [int(each[FLAGS[subset.characteristic]]) for each in objects]
    else:
        is_size = subset.characteristic is Characteristic.SIZE
        shapes = [width * height if is_size else width / height for width, height in sides]
        values = [fifth([shapes[place] for place in counted], shape) if counted else 0 for shape in shapes]
    chosen = {place for place in counted if values[place] in subset.values}
    return normalised(found_objects(found, plain, 0.5), chosen, normal), len(chosen)
