"""Example layout predictor: the detector, run on what is in the box of a person, for parts in place of objects.

How many parts a person shows is learnt from the same picture, and where they usually are is a prior of the windows.
"""

from collections.abc import Iterator
from typing import NamedTuple
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.conversion.result_archive import Files
from vocboard.evaluator.editions import Competition, LayoutProtocol
from vocboard.evaluator.examples.features import CellGrid
from vocboard.evaluator.examples.material import ExampleError, Material, record_boxes
from vocboard.evaluator.examples.ridge import Ridge
from vocboard.evaluator.examples.windows import Detector, Examples
from vocboard.evaluator.ground_truth import LayoutTruth
from vocboard.evaluator.ground_truth.material import PERSON
from vocboard.evaluator.result_files.names import expected_name

MARGIN = 0.1  # of a person's box, added on each side: parts may reach out of it
STEP_OF_SIDE = 0.3  # between windows: hands are a seventh of a person wide, and half of a box must be right
NEGATIVES = 60  # windows of each person that show no part: there are few people to learn from
PRIOR_WEIGHT = 0.15  # of places, beside scores of windows: learnt are 1 for the part and -1 for anything else
CLOSER_MARGIN = 0.75  # of a part's box, added on each side to look at it from close by
CLOSER_STEP = 0.12
DISPLACED, DISPLACEMENT = 3, 0.15  # how often, and how far, a part is displaced to learn how to find it
LEAST_SPREAD = 0.02  # of places, as a fraction of the person's frame
WHOLE = np.array([[0.0, 0, 1, 1]])  # the frame, as fractions of itself
_SIDES = ("xmin", "ymin", "xmax", "ymax")

Boxes = NDArray[np.float64]


class _Person(NamedTuple):
    """A person of the test set; the number counts the image's objects from 1."""

    image: str
    number: int
    box: Boxes
    crop: CellGrid


def lay_out(material: Material, competition: Competition) -> Files:
    """Learn how many parts people show, what they look like and where they are, and return the layout file."""
    truth = next(each for (task, _), each in material.train.truths.items() if task is material.task)
    assert isinstance(truth, LayoutTruth)  # noqa: S101  # of this task it is
    if not len(truth.part_person):
        raise ExampleError("no people have parts to learn from")
    kinds = len(material.edition.parts)
    people = truth.box[truth.part_person]
    sides = (people[:, 2:] - people[:, :2] + 1) * (1 + 2 * MARGIN)
    shapes = (truth.part_box[:, 2:] - truth.part_box[:, :2] + 1) / sides
    examples, counts = Examples(shapes, step_of_side=STEP_OF_SIDE, negatives=NEGATIVES), _PartCounts(kinds)
    closer, places = _Closer(kinds), _Places()
    for image, picture in material.pictures(material.train_set.images):
        for listed in np.flatnonzero(truth.image == image).tolist():
            own = truth.part_person == listed
            if own.any():
                frame, own_kinds = _frame(truth.box[listed], MARGIN), truth.part_type[own]
                crop, parts = CellGrid.of_part(picture, frame), _within(truth.part_box[own], frame)
                examples.add(crop, parts, own_kinds)
                counts.add(crop, own_kinds)
                places.add(parts, own_kinds)
                closer.add(picture, truth.part_box[own], own_kinds)
    detector = examples.learn(kinds)
    counts.learn()
    closer.learn()
    prior = places.prior(detector)
    by_box = competition.rules.layout_protocol is LayoutProtocol.WHOLE_PERSON_BY_BOX
    lines = ["<results>"]
    for person, picture in _people(material, by_box=by_box):
        likelihood, most = counts.of(person.crop)
        found = detector.find(person.crop, {kind: most[kind] for kind in detector.kinds}, prior)
        parts_found = [
            (material.edition.parts[kind], closer.look(picture, kind, _outside(box, _frame(person.box, MARGIN))))
            for kind, _, box in found
        ]
        scores = [score for _, score, _ in found]
        confidence = likelihood + (float(np.mean(scores)) if scores else 0.0)
        lines += _layout(person, confidence, parts_found, by_box=by_box)
    return [(expected_name(competition), "\n".join([*lines, "</results>", ""]).encode())]


class _Closer:
    """Looks again at a box that was found, closer, for where the part is exactly."""

    def __init__(self, kinds: int) -> None:
        self._random = np.random.default_rng(0)
        side = 1 / (1 + 2 * CLOSER_MARGIN)
        shapes = np.array([[width, height] for width in (0.8, 1, 1.25) for height in (0.8, 1, 1.25)]) * side
        self._examples = [Examples(shapes, step_of_side=CLOSER_STEP) for _ in range(kinds)]
        self._seen = [False] * kinds
        self._detectors: list[Detector | None] = []

    def add(self, picture: bytes, boxes: Boxes, kinds: NDArray[np.integer]) -> None:
        """Take a person's parts, each as it would be found: a little displaced, and of another size."""
        for box, kind in zip(boxes, kinds.tolist(), strict=True):
            sides = np.tile(box[2:] - box[:2], 2)
            for _ in range(DISPLACED):
                frame = _frame(box + self._random.normal(0, DISPLACEMENT, 4) * sides, CLOSER_MARGIN)
                crop = CellGrid.of_part(picture, frame)
                self._examples[kind].add(crop, _within(box[None], frame), np.zeros(1, dtype=np.int64))
            self._seen[kind] = True

    def learn(self) -> None:
        """Learn what each kind looks like from close by."""
        pairs = zip(self._examples, self._seen, strict=True)
        self._detectors = [examples.learn(1) if seen else None for examples, seen in pairs]

    def look(self, picture: bytes, kind: int, box: Boxes) -> Boxes:
        """Return VOC's box of the part that is in or around a box."""
        detector = self._detectors[kind]
        if detector is None:
            return box
        frame = _frame(box, CLOSER_MARGIN)
        [(_, _, window)] = detector.find(CellGrid.of_part(picture, frame), {0: 1})
        return _outside(window, frame)


class _Places:
    """Where in a person's frame parts of each kind usually are."""

    def __init__(self) -> None:
        self._boxes: list[Boxes] = []
        self._kinds: list[NDArray[np.integer]] = []

    def add(self, boxes: Boxes, kinds: NDArray[np.integer]) -> None:
        """Take the boxes of a person's parts, as fractions of the frame."""
        self._boxes.append(boxes)
        self._kinds.append(kinds)

    def prior(self, detector: Detector) -> NDArray[np.float32]:
        """Return (n, k) how usual each window is for each kind: 0 at the mean of its boxes, less the further away."""
        boxes, kinds = np.concatenate(self._boxes), np.concatenate(self._kinds)
        columns = []
        for kind in detector.kinds:
            own = boxes[kinds == kind]
            away = (detector.windows.boxes - own.mean(axis=0)) / (own.std(axis=0) + LEAST_SPREAD)
            columns.append(-PRIOR_WEIGHT * (away**2).mean(axis=1))
        return np.stack(columns, axis=1).astype(np.float32)


class _PartCounts:
    """How many parts of each kind a person shows, from what is in and around the person's box."""

    def __init__(self, kinds: int) -> None:
        self._kinds = kinds
        self._features: list[NDArray[np.float32]] = []
        self._counts: list[tuple[int, ...]] = []
        self._known: list[tuple[int, ...]] = []
        self._ridge: Ridge | None = None

    def add(self, crop: CellGrid, kinds: NDArray[np.integer]) -> None:
        """Take a person and the kinds of the parts."""
        self._features.append(_described(crop))
        self._counts.append(tuple(np.bincount(kinds, minlength=self._kinds).tolist()))

    def learn(self) -> None:
        """Learn which numbers of parts are likely, out of those that people of the training images show."""
        self._known = sorted(set(self._counts))
        target = np.array([[float(counts == known) for known in self._known] for counts in self._counts])
        self._ridge = Ridge.fit(np.array(self._features), target)

    def of(self, crop: CellGrid) -> tuple[float, tuple[int, ...]]:
        """Return the likeliest number of parts of each kind for a person, and how likely it is."""
        if self._ridge is None:
            raise ValueError("nothing has been learnt")
        [likelihood] = self._ridge.predict(_described(crop)[None])
        best = int(likelihood.argmax())
        return float(likelihood[best]), self._known[best]


def _described(crop: CellGrid) -> NDArray[np.float32]:
    width, height = crop.size
    shape = np.log(width / height)  # a person who is seen whole is narrower than one cut at the waist
    return np.append(crop.pooled(WHOLE, 1)[0], np.array([shape, shape**2], dtype=np.float32))


def _people(material: Material, *, by_box: bool) -> Iterator[tuple[_Person, bytes]]:
    """Yield every person of the test set, and the picture."""
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
            crop = CellGrid.of_part(picture, _frame(box, MARGIN))
            yield _Person(public.images[image], number, box, crop), picture


def _layout(person: _Person, confidence: float, parts: list[tuple[str, Boxes]], *, by_box: bool) -> list[str]:
    who = _box_lines(person.box) if by_box else [f"<object>{person.number}</object>"]
    lines = ["<layout>", f"<image>{escape(person.image)}</image>", *who, f"<confidence>{confidence:.6f}</confidence>"]
    for name, box in parts:
        lines += ["<part>", f"<class>{escape(name)}</class>", *_box_lines(box), "</part>"]
    return [*lines, "</layout>"]


def _box_lines(box: Boxes) -> list[str]:
    sides = [f"<{side}>{value:.1f}</{side}>" for side, value in zip(_SIDES, box.tolist(), strict=True)]
    return ["<bndbox>", *sides, "</bndbox>"]


def _frame(box: Boxes, margin: float) -> Boxes:
    """Return (4,) the edges of VOC's box, from 0, with a margin on each side that is a fraction of the box's."""
    edges = box - np.array([1, 1, 0, 0])
    sides = np.maximum(np.tile(edges[2:] - edges[:2], 2), 1)
    return np.asarray(edges + margin * sides * np.array([-1, -1, 1, 1]))


def _within(boxes: Boxes, frame: Boxes) -> Boxes:
    """Return VOC's boxes as fractions of a frame."""
    edges = boxes - np.array([1, 1, 0, 0])
    return np.asarray((edges - np.tile(frame[:2], 2)) / np.tile(frame[2:] - frame[:2], 2))


def _outside(box: Boxes, frame: Boxes) -> Boxes:
    """Return VOC's box of fractions of a frame."""
    edges = box * np.tile(frame[2:] - frame[:2], 2) + np.tile(frame[:2], 2)
    return np.asarray(edges + np.array([1, 1, 0, 0]))
