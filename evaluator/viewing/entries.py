"""Results of each task for the page, with the marks that the evaluation gives them.

A result row is one row of the page: a detection, a region, a part of a layout, or the confidence of an image or person
for a class.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.diagnosis.errors import Diagnosed, diagnose
from vocboard.evaluator.editions import Competition, Edition, LayoutProtocol, Task
from vocboard.evaluator.ground_truth import DetectionTruth, GroundTruth, LabelTruth, LayoutTruth
from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.metrics.boxes import best_overlapping, is_enough
from vocboard.evaluator.metrics.precision_recall import by_confidence
from vocboard.evaluator.results import Detections, Entry, Layouts
from vocboard.evaluator.tasks.detection.scoring import match
from vocboard.evaluator.tasks.instance_segmentation import rle
from vocboard.evaluator.tasks.instance_segmentation.results import Regions
from vocboard.evaluator.tasks.layout.parts import judge_parts
from vocboard.evaluator.tasks.layout.people import people_by_index
from vocboard.evaluator.tasks.layout.scoring import judge_whole_people
from vocboard.evaluator.viewing.marks import Mark, marks_of

NO_OBJECT = -1
_LABEL_MARKS = np.array([Mark.IGNORED, Mark.POSITIVE, Mark.NEGATIVE], dtype=np.uint8)  # by label 0, 1, -1


@dataclass(frozen=True, eq=False, slots=True)
class ResultRows:
    """Some result rows of one class.

    Attributes:
        image: (n,) index into the image set.
        confidence: (n,) float64.
        mark: (n,) uint8 of `Mark`.
        object: (n,) index into the objects of the page; `NO_OBJECT` for none.
        box: (n, 4) float64; None if rows have no boxes.
        region: RLE of each row; None if rows are not regions.
    """

    class_index: int
    image: NDArray[np.integer]
    confidence: NDArray[np.float64]
    mark: NDArray[np.uint8]
    object: NDArray[np.integer]
    box: NDArray[np.float64] | None = None
    region: list[str] | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Page:
    """Reference for result rows: the ground truth and the objects of the page.

    Attributes:
        truth: the ground truth.
        detected: (m,) index into the page's objects, for each object of the detection truth.
        first: index into the page's objects of the first object of each image, by image.
        boxes: (k, 4) of the page's objects.
    """

    edition: Edition
    truth: GroundTruth
    detected: NDArray[np.int64]
    first: Mapping[str, int]
    boxes: NDArray[np.float64]

    def objects(self, image_set: ImageSet, people: NDArray[np.integer]) -> NDArray[np.int64]:
        """Return (n,) indices of the page's objects for (n, 2) people by image and 1-based index."""
        first = np.array([self.first.get(name, NO_OBJECT) for name in image_set.images], dtype=np.int64)
        start = first[people[:, 0]]
        found = start + people[:, 1] - 1
        return np.where((start >= 0) & (found < len(self.boxes)), found, NO_OBJECT)


def result_rows(entry: Entry, image_set: ImageSet, page: Page) -> Iterator[ResultRows]:
    """Yield the result rows of a competition's entry, class after class."""
    yield from RESULT_ROWS[entry.competition.task](entry, image_set, page)


def has_result_rows(task: Task) -> bool:
    """Return whether results of a task are shown as rows; label maps are shown as images instead.

    Raises:
        ValueError: the task is registered neither in `RESULT_ROWS` nor in `WITH_LABEL_MAPS`.
    """
    if task not in RESULT_ROWS and task not in WITH_LABEL_MAPS:
        raise ValueError(f"pages cannot show results of {task}: register it in {__name__}")
    return task in RESULT_ROWS


def _detections(entry: Entry, _: ImageSet, page: Page) -> Iterator[ResultRows]:
    truth = _truth_of(entry.competition, page)
    diagnosed = _diagnosed(entry, page)
    place_of = np.append(page.detected, NO_OBJECT)  # the last for "none"
    for index, name in enumerate(page.edition.classes):
        found: Detections | None = entry.content.get(name)
        if found is None:
            continue
        order = by_confidence(found.confidence)
        mark, matched = _unjudged(len(order))
        if isinstance(truth, DetectionTruth):
            mark = marks_of(diagnosed[name])
            matched = place_of[_objects_of(found, truth, index, diagnosed[name], page.edition)]
        yield ResultRows(index, found.image[order], found.confidence[order], mark, matched, box=found.box[order])


def _objects_of(
    found: Detections, truth: DetectionTruth, index: int, diagnosed: Diagnosed, edition: Edition
) -> NDArray[np.int64]:
    """Return (n,) the object that each detection of a class is compared with, by rank; `NO_OBJECT` for none."""
    best = match(found, truth, index)
    enough = is_enough(best.overlap, edition.overlap)
    matched = diagnosed.target.copy()
    matched[enough] = np.flatnonzero(truth.class_index == index)[best.object[enough]]
    return matched


def _diagnosed(entry: Entry, page: Page) -> Mapping[str, Diagnosed]:
    """Return the kinds of errors of a competition's results by class; empty without ground truth."""
    truth = _truth_of(entry.competition, page)
    found = None if truth is None else diagnose(entry, truth, page.edition)
    return {} if found is None else found.classes


def _confidences(entry: Entry, image_set: ImageSet, page: Page) -> Iterator[ResultRows]:
    truth = _truth_of(entry.competition, page)
    people = image_set.persons if entry.competition.task is Task.ACTION else None
    objects = None if people is None else page.objects(image_set, people)
    for index, name in enumerate(entry.competition.classes):
        found = entry.content.get(name)
        if found is None:
            continue
        order = by_confidence(found.confidence)
        item = found.item[order]
        mark, matched = _unjudged(len(item))
        if isinstance(truth, LabelTruth):
            labels = truth.labels[name]
            last = max(item.max(initial=0), labels.item.max(initial=0))
            of_item = np.full(1 + last, Mark.UNJUDGED, dtype=np.uint8)
            of_item[labels.item] = _LABEL_MARKS[labels.label]
            mark = of_item[item]
        if people is None or objects is None:
            yield ResultRows(index, item, found.confidence[order], mark, matched)
        else:
            matched = objects[item]
            box = np.append(page.boxes, [[1, 1, 0, 0]], axis=0)[matched]  # the last for no object
            yield ResultRows(index, people[item, 0], found.confidence[order], mark, matched, box=box)


def _layouts(entry: Entry, image_set: ImageSet, page: Page) -> Iterator[ResultRows]:
    """Yield parts with the confidence of their layout. If whole people are judged, all parts have the layout's mark."""
    layouts: Layouts = entry.content
    truth = _truth_of(entry.competition, page)
    mark, matched = _unjudged(len(layouts.part_layout))
    if isinstance(truth, LayoutTruth):
        mark, person = _judged_parts(layouts, truth, entry.competition, page.edition)
        of_truth = page.objects(image_set, np.stack([truth.image, truth.object], axis=1))
        matched = np.append(of_truth, NO_OBJECT)[person]
    for index in range(len(page.edition.parts)):
        own = np.flatnonzero(layouts.part_type == index)
        own = own[by_confidence(layouts.confidence[layouts.part_layout[own]])]
        layout = layouts.part_layout[own]
        box = layouts.part_box[own]
        yield ResultRows(index, layouts.image[layout], layouts.confidence[layout], mark[own], matched[own], box=box)


def _judged_parts(
    layouts: Layouts, truth: LayoutTruth, competition: Competition, edition: Edition
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return the mark of each part, and the index of its person in the truth; `NO_OBJECT` for nobody."""
    if layouts.person_box is not None:
        best, overlap = best_overlapping(layouts.person_box, layouts.image, truth.box, truth.image)
        person = np.where(is_enough(overlap, edition.overlap), best, NO_OBJECT)
    else:
        people = people_by_index(layouts, truth)
        person = np.where(people.known, people.person, NO_OBJECT)
    if competition.rules.layout_protocol is LayoutProtocol.PARTS:
        mark = np.full(len(layouts.part_layout), Mark.IGNORED, dtype=np.uint8)
        judged = judge_parts(layouts, truth, edition.overlap, len(edition.parts))
        mark[judged.part] = np.where(judged.true, Mark.CORRECT, Mark.WRONG)
        return mark, person[layouts.part_layout]
    judgement = judge_whole_people(competition, layouts, truth, edition)
    in_file_order = competition.rules.layout_protocol is LayoutProtocol.WHOLE_PERSON_BY_INDEX_IN_FILE_ORDER
    rank = np.arange(len(layouts.confidence)) if in_file_order else by_confidence(layouts.confidence)
    of_layout = np.full(len(layouts.confidence), Mark.IGNORED, dtype=np.uint8)
    of_layout[rank[judgement.false]] = Mark.WRONG
    of_layout[rank[judgement.true]] = Mark.CORRECT
    return of_layout[layouts.part_layout], person[layouts.part_layout]


def _regions(entry: Entry, image_set: ImageSet, page: Page) -> Iterator[ResultRows]:
    diagnosed = _diagnosed(entry, page)
    for index, name in enumerate(page.edition.classes):
        found: Regions | None = entry.content.get(name)
        if found is None:
            continue
        order = by_confidence(found.confidence)
        mark, matched = _unjudged(len(order))
        if name in diagnosed:
            mark = marks_of(diagnosed[name])
        shapes = [_shape(found, region, image_set) for region in order.tolist()]
        box = np.array([box for box, _ in shapes], dtype=np.float64).reshape(-1, 4)
        texts = [text for _, text in shapes]
        yield ResultRows(index, found.image[order], found.confidence[order], mark, matched, box=box, region=texts)


def _shape(regions: Regions, region: int, image_set: ImageSet) -> tuple[tuple[int, int, int, int], str]:
    """Return VOC's box around a region, and its RLE."""
    runs = regions.runs(region)
    start, stop = regions.run_start[runs], regions.run_stop[runs]
    if image_set.sizes is None or not len(start):
        return (1, 1, 0, 0), ""
    width, height = image_set.sizes[regions.image[region]].tolist()
    one_column = start // height == (stop - 1) // height
    top = int((start % height).min()) if one_column.all() else 0
    bottom = int(((stop - 1) % height).max()) if one_column.all() else height - 1
    box = (int(start[0]) // height + 1, top + 1, int(stop[-1] - 1) // height + 1, bottom + 1)
    return box, rle.encode(rle.lengths_between(start, stop, width * height))


def _truth_of(competition: Competition, page: Page) -> Any:
    return page.truth.truths.get((competition.task, competition.image_set))


def _unjudged(count: int) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    return np.full(count, Mark.UNJUDGED, dtype=np.uint8), np.full(count, NO_OBJECT, dtype=np.int64)


# Each task also has an entry in KINDS of assets/results.js: the marks that its rows can have.
RESULT_ROWS: Mapping[Task, Callable[[Entry, ImageSet, Page], Iterator[ResultRows]]] = {
    Task.CLASSIFICATION: _confidences,
    Task.DETECTION: _detections,
    Task.LAYOUT: _layouts,
    Task.ACTION: _confidences,
    Task.INSTANCE_SEGMENTATION: _regions,
}
WITH_LABEL_MAPS = frozenset({Task.SEGMENTATION})  # the page shows each map as a picture
