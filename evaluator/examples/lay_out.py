"""Example layout predictor: the detector, run on what is in the box of a person, for parts in place of objects."""

from collections.abc import Iterator
from typing import NamedTuple
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.conversion.result_archive import Files
from vocboard.evaluator.editions import Competition, LayoutProtocol
from vocboard.evaluator.examples.features import CellGrid
from vocboard.evaluator.examples.material import ExampleError, Material, record_boxes
from vocboard.evaluator.examples.windows import Examples
from vocboard.evaluator.ground_truth import LayoutTruth
from vocboard.evaluator.ground_truth.material import PERSON
from vocboard.evaluator.result_files.names import expected_name

MARGIN = 0.1  # of a person's box, added on each side: parts may reach out of it
PRESENT_FROM = 0.0  # score of a window; learnt are 1 for the part and -1 for anything else
_SIDES = ("xmin", "ymin", "xmax", "ymax")

Boxes = NDArray[np.float64]


class _Person(NamedTuple):
    """A person of the test set; the number counts the image's objects from 1."""

    image: str
    number: int
    box: Boxes
    crop: CellGrid


def lay_out(material: Material, competition: Competition) -> Files:
    """Learn what parts of people look like and where they are, and return the layout file."""
    truth = next(each for (task, _), each in material.train.truths.items() if task is material.task)
    assert isinstance(truth, LayoutTruth)  # noqa: S101  # of this task it is
    most = _most_parts(truth, len(material.edition.parts))
    if not most:
        raise ExampleError("no people have parts to learn from")
    people = truth.box[truth.part_person]
    sides = (people[:, 2:] - people[:, :2] + 1) * (1 + 2 * MARGIN)
    examples = Examples((truth.part_box[:, 2:] - truth.part_box[:, :2] + 1) / sides)
    for image, picture in material.pictures(material.train_set.images):
        for listed in np.flatnonzero(truth.image == image).tolist():
            own = truth.part_person == listed
            if own.any():
                frame = _frame(truth.box[listed])
                crop = CellGrid.of_part(picture, frame)
                examples.add(crop, _within(truth.part_box[own], frame), truth.part_type[own])
    detector = examples.learn(len(material.edition.parts))
    by_box = competition.rules.layout_protocol is LayoutProtocol.WHOLE_PERSON_BY_BOX
    lines = ["<results>"]
    for person in _people(material, by_box=by_box):
        found = [each for each in detector.find(person.crop, most) if each[1] > PRESENT_FROM]
        parts = [(material.edition.parts[kind], _outside(box, _frame(person.box))) for kind, _, box in found]
        confidence = float(np.mean([score for _, score, _ in found])) if found else 0.0
        lines += _layout(person, confidence, parts, by_box=by_box)
    return [(expected_name(competition), "\n".join([*lines, "</results>", ""]).encode())]


def _most_parts(truth: LayoutTruth, kinds: int) -> dict[int, int]:
    """Return how many parts of each kind a person may have: as many as one in ten has."""
    people = np.unique(truth.part_person)
    counts = {
        kind: np.bincount(truth.part_person[truth.part_type == kind], minlength=len(truth.image))[people]
        for kind in range(kinds)
    }
    return {kind: int(np.quantile(of_kind, 0.9)) for kind, of_kind in counts.items()} if len(people) else {}


def _people(material: Material, *, by_box: bool) -> Iterator[_Person]:
    """Yield every person of the test set."""
    public, records = material.test_set, material.records(material.edition, material.test)
    people: dict[int, list[int]] = {}
    if by_box:
        for image, name in enumerate(public.images):
            objects = records[name].objects if name in records else ()
            people[image] = [number for number, each in enumerate(objects, start=1) if each.name == PERSON]
    elif public.persons is None:
        raise ExampleError("the image set does not say which people are meant")
    else:
        for image, number in public.persons.tolist():
            people.setdefault(image, []).append(number)
    for image, picture in material.pictures(public.images):
        numbers = people.get(image, [])
        boxes = record_boxes(records.get(public.images[image]), numbers)
        for number, box in zip(numbers, boxes, strict=True):
            yield _Person(public.images[image], number, box, CellGrid.of_part(picture, _frame(box)))


def _layout(person: _Person, confidence: float, parts: list[tuple[str, Boxes]], *, by_box: bool) -> list[str]:
    who = _box_lines(person.box) if by_box else [f"<object>{person.number}</object>"]
    lines = ["<layout>", f"<image>{escape(person.image)}</image>", *who, f"<confidence>{confidence:.6f}</confidence>"]
    for name, box in parts:
        lines += ["<part>", f"<class>{escape(name)}</class>", *_box_lines(box), "</part>"]
    return [*lines, "</layout>"]


def _box_lines(box: Boxes) -> list[str]:
    sides = [f"<{side}>{value:.1f}</{side}>" for side, value in zip(_SIDES, box.tolist(), strict=True)]
    return ["<bndbox>", *sides, "</bndbox>"]


def _frame(box: Boxes) -> Boxes:
    """Return (4,) the edges of a person's box with its margin, from 0."""
    edges = box - np.array([1, 1, 0, 0])
    margin = MARGIN * np.tile(edges[2:] - edges[:2], 2)
    return np.asarray(edges + margin * np.array([-1, -1, 1, 1]))


def _within(boxes: Boxes, frame: Boxes) -> Boxes:
    """Return VOC's boxes as fractions of a frame."""
    edges = boxes - np.array([1, 1, 0, 0])
    return np.asarray((edges - np.tile(frame[:2], 2)) / np.tile(frame[2:] - frame[:2], 2))


def _outside(box: Boxes, frame: Boxes) -> Boxes:
    """Return VOC's box of fractions of a frame."""
    edges = box * np.tile(frame[2:] - frame[:2], 2) + np.tile(frame[:2], 2)
    return np.asarray(edges + np.array([1, 1, 0, 0]))
