"""Example layout predictor: the detector, run on the crop of a person to find parts, whose boxes are then refined.

The number of parts of each kind is learnt from the same crop. The usual positions of parts are a prior of the windows.
"""

from collections.abc import Iterator
from typing import NamedTuple
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.conversion.result_archive import Files
from vocboard.evaluator.editions import Competition, LayoutProtocol
from vocboard.evaluator.examples.confidences import confidence
from vocboard.evaluator.examples.features import CellGrid
from vocboard.evaluator.examples.frames import frame_around, from_frame, to_frame
from vocboard.evaluator.examples.material import ExampleError, Material, record_boxes
from vocboard.evaluator.examples.refine import WHOLE, BoxRefiner
from vocboard.evaluator.examples.ridge import Ridge
from vocboard.evaluator.examples.windows import Detector, Examples
from vocboard.evaluator.ground_truth import LayoutTruth
from vocboard.evaluator.result_files.names import expected_name
from vocboard.evaluator.tasks.material import PERSON

MARGIN = 0.1  # of a person's box, added on each side: parts can extend beyond it
STEP_OF_SIDE = 0.3  # between windows, as a fraction of their sides: small enough for the refinement to find the part
NEGATIVES = 60  # windows without a part for each person: many, because there are few people to learn from
PRIOR_WEIGHT = 0.15  # of positions, relative to scores of windows, which are 1 for parts and -1 for anything else
MIN_SPREAD = 0.02  # of positions, as a fraction of the person's crop
_SIDES = ("xmin", "ymin", "xmax", "ymax")

Boxes = NDArray[np.float64]


class _Person(NamedTuple):
    """A person of the test set; `number` is its object number in the image, from 1 on."""

    image: str
    number: int
    box: Boxes
    crop: CellGrid


def example_results(material: Material, competition: Competition) -> Files:
    """Learn the number, appearance and positions of people's parts, and return the layout file of the test images."""
    truth = next(each for (task, _), each in material.train.truths.items() if task is material.task)
    assert isinstance(truth, LayoutTruth)  # noqa: S101  # of this task it is
    if not len(truth.part_person):
        raise ExampleError("no people have parts to learn from")
    kinds = len(material.edition.parts)
    people = truth.box[truth.part_person]
    sides = (people[:, 2:] - people[:, :2] + 1) * (1 + 2 * MARGIN)
    shapes = (truth.part_box[:, 2:] - truth.part_box[:, :2] + 1) / sides
    examples, counts = Examples(shapes, step_of_side=STEP_OF_SIDE, negatives=NEGATIVES), _PartCounts(kinds)
    refiners, places = [BoxRefiner() for _ in range(kinds)], _Places()
    for image, picture in material.pictures(material.train_set.images):
        for listed in np.flatnonzero(truth.image == image).tolist():
            own = truth.part_person == listed
            if own.any():
                frame, own_kinds = frame_around(truth.box[listed], MARGIN), truth.part_type[own]
                crop, parts = CellGrid.of_part(picture, frame), to_frame(truth.part_box[own], frame)
                examples.add(crop, parts, own_kinds)
                counts.add(crop, own_kinds)
                places.add(parts, own_kinds)
                for box, kind in zip(truth.part_box[own], own_kinds.tolist(), strict=True):
                    refiners[kind].add(picture, box)
    detector = examples.learn(kinds)
    counts.learn()
    for refiner in refiners:
        refiner.learn()
    prior = places.prior(detector)
    by_box = competition.rules.layout_protocol is LayoutProtocol.WHOLE_PERSON_BY_BOX
    lines = ["<results>"]
    for person, picture in _people(material, by_box=by_box):
        likelihood, most = counts.of(person.crop)
        found = detector.find(person.crop, {kind: most[kind] for kind in detector.kinds}, prior)
        parts_found = [
            (
                material.edition.parts[kind],
                refiners[kind].refine(picture, from_frame(box, frame_around(person.box, MARGIN))),
            )
            for kind, _, box in found
        ]
        scores = [score for _, score, _ in found]
        score = likelihood + (float(np.mean(scores)) if scores else 0.0)
        lines += _layout(person, confidence(score, competition), parts_found, by_box=by_box)
    return [(expected_name(competition), "\n".join([*lines, "</results>", ""]).encode())]


class _Places:
    """The usual positions of parts of each kind in a person's crop."""

    def __init__(self) -> None:
        self._boxes: list[Boxes] = []
        self._kinds: list[NDArray[np.integer]] = []

    def add(self, boxes: Boxes, kinds: NDArray[np.integer]) -> None:
        """Add the boxes of a person's parts, as fractions of the crop."""
        self._boxes.append(boxes)
        self._kinds.append(kinds)

    def prior(self, detector: Detector) -> NDArray[np.float32]:
        """Return (n, k) a prior of each window for each kind: 0 at the mean of its boxes, negative away from it."""
        boxes, kinds = np.concatenate(self._boxes), np.concatenate(self._kinds)
        columns = []
        for kind in detector.kinds:
            own = boxes[kinds == kind]
            away = (detector.windows.boxes - own.mean(axis=0)) / (own.std(axis=0) + MIN_SPREAD)
            columns.append(-PRIOR_WEIGHT * (away**2).mean(axis=1))
        return np.stack(columns, axis=1).astype(np.float32)


class _PartCounts:
    """The number of parts of each kind that a person shows, learnt from the person's crop."""

    def __init__(self, kinds: int) -> None:
        self._kinds = kinds
        self._features: list[NDArray[np.float32]] = []
        self._counts: list[tuple[int, ...]] = []
        self._known: list[tuple[int, ...]] = []
        self._ridge: Ridge | None = None

    def add(self, crop: CellGrid, kinds: NDArray[np.integer]) -> None:
        """Add the crop of a person, and the kinds of its parts."""
        self._features.append(_described(crop))
        self._counts.append(tuple(np.bincount(kinds, minlength=self._kinds).tolist()))

    def learn(self) -> None:
        """Learn which of the combinations of numbers in the training images is the most likely one."""
        self._known = sorted(set(self._counts))
        target = np.array([[float(counts == known) for known in self._known] for counts in self._counts])
        self._ridge = Ridge.fit(np.array(self._features), target)

    def of(self, crop: CellGrid) -> tuple[float, tuple[int, ...]]:
        """Return a score of the most likely numbers of parts, and the number of each kind."""
        if self._ridge is None:
            raise ValueError("nothing has been learnt")
        [likelihood] = self._ridge.predict(_described(crop)[None])
        best = int(likelihood.argmax())
        return float(likelihood[best]), self._known[best]


def _described(crop: CellGrid) -> NDArray[np.float32]:
    width, height = crop.size
    shape = np.log(width / height)  # a whole person is narrower than one cut at the waist
    return np.append(crop.pooled(WHOLE, 1)[0], np.array([shape, shape**2], dtype=np.float32))


def _people(material: Material, *, by_box: bool) -> Iterator[tuple[_Person, bytes]]:
    """Yield each person of the test set, and the image file."""
    public, records = material.test_set, material.records(material.edition, material.test)
    people: dict[int, list[int]] = {}
    if by_box:
        for image, name in enumerate(public.images):
            objects = records[name].objects if name in records else ()
            people[image] = [number for number, each in enumerate(objects, start=1) if each.name == PERSON]
    elif public.persons is None:
        raise ExampleError("the image set does not list people")
    else:
        for image, number in public.persons.tolist():
            people.setdefault(image, []).append(number)
    for image, picture in material.pictures(public.images):
        numbers = people.get(image, [])
        boxes = record_boxes(records.get(public.images[image]), numbers)
        for number, box in zip(numbers, boxes, strict=True):
            crop = CellGrid.of_part(picture, frame_around(box, MARGIN))
            yield _Person(public.images[image], number, box, crop), picture


def _layout(person: _Person, certain: str, parts: list[tuple[str, Boxes]], *, by_box: bool) -> list[str]:
    who = _box_lines(person.box) if by_box else [f"<object>{person.number}</object>"]
    lines = ["<layout>", f"<image>{escape(person.image)}</image>", *who, f"<confidence>{certain}</confidence>"]
    for name, box in parts:
        lines += ["<part>", f"<class>{escape(name)}</class>", *_box_lines(box), "</part>"]
    return [*lines, "</layout>"]


def _box_lines(box: Boxes) -> list[str]:
    sides = [f"<{side}>{value:.1f}</{side}>" for side, value in zip(_SIDES, box.tolist(), strict=True)]
    return ["<bndbox>", *sides, "</bndbox>"]
