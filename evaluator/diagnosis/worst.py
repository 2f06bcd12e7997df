"""The worst errors of each kind, to look at.

A false positive is worse the earlier it is in the ranking of its class, relative to the number of objects (or
images) of the class: confidences of different classes need not be comparable. A missed object is worse
the larger it is, and a label map the more of its pixels are wrong.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.diagnosis.errors import ERRORS, DiagnosedClasses, diagnose
from vocboard.evaluator.diagnosis.what_if import MISSED, WhatIf
from vocboard.evaluator.editions import Edition, Task
from vocboard.evaluator.ground_truth import DetectionTruth, LabelTruth, LayoutTruth
from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.metrics.confusion_matrix import ImageConfusions
from vocboard.evaluator.results import Detections, Entry, Layouts
from vocboard.evaluator.tasks.classification.scoring import labelled
from vocboard.evaluator.tasks.truth import Truth

SHOWN = 8  # errors of each kind
NEGATIVE = "negative"  # among the first images (or people) of a class that they do not show
WRONG_PIXELS = "wrong_pixels"

Box = tuple[float, float, float, float]  # left, top, right, bottom; see `evaluator.metrics.boxes`


@dataclass(frozen=True, slots=True)
class WorstError:
    """One error.

    Attributes:
        image: identifier of the image.
        name: class of the result, or of the missed object.
        detail: what else is known of it, in a few words.
        found: box of the result; None if it has none.
        true: box of the object that it should have found, or that is missed; None if there is none.
        result: index of the result on the page of `vocboard view`; None if it is not known.
    """

    image: str
    name: str
    detail: str
    found: Box | None = None
    true: Box | None = None
    result: int | None = None


def worst_errors(
    entry: Entry, truth: Truth, edition: Edition, public: ImageSet, confusions: ImageConfusions | None
) -> Mapping[str, list[WorstError]]:
    """Return the worst errors of each kind; only kinds that occur.

    Args:
        entry: of a competition.
        truth: ground truth of its task and image set.
        edition: the edition, whose rules apply.
        public: the image set.
        confusions: pixels of each image; None for tasks without label maps.
    """
    found: dict[str, list[WorstError]] = {}
    if confusions is not None:
        found = {WRONG_PIXELS: _label_maps(confusions, public)}
    elif isinstance(truth, LabelTruth):
        found = {NEGATIVE: _negatives(entry, truth, public)}
    elif (diagnosed := diagnose(entry, truth, edition)) is not None:
        found = {error.value: _of_kind(index, diagnosed, entry, truth, public) for index, error in enumerate(ERRORS)}
        found[MISSED] = _missed(diagnosed, entry, truth, public)
    return {kind: errors for kind, errors in found.items() if errors}


def _of_kind(kind: int, diagnosed: DiagnosedClasses, entry: Entry, truth: Truth, public: ImageSet) -> list[WorstError]:
    candidates = []
    offset = 0
    for name, each in diagnosed.classes.items():
        for rank in np.flatnonzero(each.error == kind)[:SHOWN].tolist():
            candidates.append((rank / max(1, len(each.objects)), name, rank, offset + rank))
        offset += len(each.error)
    worst = []
    is_listed = entry.competition.task is not Task.LAYOUT  # the page also has parts that do not count
    for _, name, rank, place in sorted(candidates)[:SHOWN]:
        each = diagnosed.classes[name]
        target = int(each.target[rank])
        confused = diagnosed.names[int(diagnosed.class_of[target])] if target >= 0 else name
        detail = f"rank {rank + 1}" + (f", shows {confused}" if confused != name else "")
        box = _found_box(entry, name, int(each.result[rank]))
        true = None if target < 0 else _true_box(truth, target)
        image = public.images[int(each.image[rank])]
        worst.append(WorstError(image, name, detail, box, true, place if is_listed else None))
    return worst


def _missed(diagnosed: DiagnosedClasses, entry: Entry, truth: Truth, public: ImageSet) -> list[WorstError]:
    what_if = WhatIf(diagnosed, entry.competition.rules)
    objects = [
        (name, index)
        for name, each in diagnosed.classes.items()
        for index in each.objects[what_if.missed(name)].tolist()
    ]
    by_size = sorted(objects, key=lambda each: -_area(_true_box(truth, each[1])))[:SHOWN]
    return [
        WorstError(public.images[int(diagnosed.object_image[index])], name, "", true=_true_box(truth, index))
        for name, index in by_size
    ]


def _negatives(entry: Entry, truth: LabelTruth, public: ImageSet) -> list[WorstError]:
    people = public.persons if entry.competition.task is Task.ACTION else None
    candidates = []
    for name, content in entry.content.items():
        items = labelled(content, truth.labels[name])
        label, item = items.label[items.label != 0], items.image[items.label != 0]
        positives = int(np.count_nonzero(label > 0))
        for rank in np.flatnonzero(label[:positives] < 0)[:SHOWN].tolist():
            candidates.append((rank / positives, name, rank, int(item[rank])))
    worst = []
    for _, name, rank, item in sorted(candidates)[:SHOWN]:
        shown = [other for other, labels in truth.labels.items() if (labels.label[labels.item == item] > 0).any()]
        detail = f"rank {rank + 1}, shows {', '.join(shown) or 'no class'}"
        image = item if people is None else int(people[item, 0])
        worst.append(WorstError(public.images[image], name, detail))
    return worst


def _label_maps(confusions: ImageConfusions, public: ImageSet) -> list[WorstError]:
    images = len(public.images)
    total = _sums(confusions, confusions.pixels, images)
    wrong = _sums(confusions, np.where(confusions.true == confusions.found, 0, confusions.pixels), images)
    share = np.divide(wrong, total, out=np.zeros(images), where=total > 0)
    worst = np.argsort(-share, kind="stable")[:SHOWN].tolist()
    return [
        WorstError(public.images[image], "", f"{100 * share[image]:.0f} % of the pixels are wrong")
        for image in worst
        if share[image] > 0
    ]


def _sums(confusions: ImageConfusions, pixels: NDArray[np.int64], images: int) -> NDArray[np.float64]:
    sums: NDArray[np.float64] = np.bincount(confusions.image, weights=pixels, minlength=images)  # type: ignore[assignment]  # stubs ignore weights
    return sums


def _found_box(entry: Entry, name: str, result: int) -> Box | None:
    if isinstance(entry.content, Layouts):
        return _box(entry.content.part_box[result])
    content = entry.content[name]
    return _box(content.box[result]) if isinstance(content, Detections) else None


def _true_box(truth: Truth, index: int) -> Box | None:
    if isinstance(truth, DetectionTruth):
        return _box(truth.box[index])
    return _box(truth.part_box[index]) if isinstance(truth, LayoutTruth) else None


def _box(row: NDArray[np.float64]) -> Box:
    left, top, right, bottom = row.tolist()
    return left, top, right, bottom


def _area(box: Box | None) -> float:
    return 0.0 if box is None else (box[2] - box[0] + 1) * (box[3] - box[1] + 1)
