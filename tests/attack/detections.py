"""What is certain after uploads of detections: claims that no other ground truth with the same answers denies.

A detection file has only the boxes that its author puts there, and nobody tells how many objects there are to find. So
another ground truth may have another number of objects, and other boxes of the files right, wrong, or on difficult
objects. What an author knows to be wrong, such as a box of one pixel, is so in every ground truth.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from vocboard.app.evaluations.eleven_points import SHOWN_FROM, ceilings, eleven_points, step
from vocboard.app.evaluations.subset_scores import in_steps
from vocboard.app.evaluations.subset_scores import step as step_by_objects
from vocboard.evaluator.metrics.normalised_precision import NORMAL_SHARE, normalised_average_precision
from vocboard.evaluator.metrics.precision_recall import ELEVEN_RECALLS, Judgement
from vocboard.evaluator.names import Metric
from vocboard.evaluator.scores import Measure

Claims = NDArray[np.int8]  # (claims,) of each box: 1 right, 0 on a difficult object, -1 wrong
FILLER = -1  # in a list: a box that its author knows to be wrong
MAX_OBJECTS = 2000  # of a class, that anybody would think possible
EXHAUSTIVE_CHANGES = 3  # labels that differ, up to which every other truth is tried
CHAINS, STEPS = 480, 2500  # of the search for others
SEARCHES = 3  # one alone misses truths that another one finds
START_TEMPERATURE, COOLING = 0.02, 0.997
BATCH = 20_000
IMAGES = 1000
FIFTHS = (0.1, 0.2, 0.4, 0.2, 0.1)  # of Hoiem et al., from the smallest objects to the largest
# Shares of the objects in the parts that metrics of some objects are about. The author knows them, and so does not
# need to find out how many objects a part has.
PARTITIONS = {
    "size": FIFTHS,
    "aspect": FIFTHS,
    "truncation": (0.35, 0.65),
    "occlusion": (0.25, 0.75),
    "view": (0.4, 0.15, 0.25, 0.2),
}

Interval = tuple[float, float]
Display = Callable[[float], Interval]  # what a score may be, given how it is shown


@dataclass(frozen=True)
class Counts:
    """Objects of a class: how many there are to find, and how many with the difficult ones."""

    positives: int
    objects: int


@dataclass(frozen=True, eq=False)
class Answer:
    """What is shown of one uploaded list.

    Attributes:
        boxes: claims by rank, or `FILLER`.
        area, with_difficult: what average precision may be, difficult objects left out or counted.
        points: the eleven points as shown; none at the detail level `classes`.
        parts: by partition, the part that each claim belongs to, which its author knows; empty without metrics of some
            objects.
        exact_parts: whether these are shown exactly, which they are not.
    """

    boxes: NDArray[np.intp]
    area: Interval
    with_difficult: Interval
    points: tuple[float, ...]
    parts: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    exact_parts: bool = False
    shown_parts: tuple[float | None, ...] = ()


def to_decimals(number: int) -> Display:
    """Return what a score may be that is shown with so many decimals."""

    def display(score: float) -> Interval:
        shown, half = round(score, number), 0.5 * 10.0**-number
        return shown - half, shown + half

    return display


FOUR_DECIMALS = to_decimals(4)  # by default


def answer(
    truth: Claims, counts: Counts, boxes: Sequence[int], display: Display = FOUR_DECIMALS, *, with_points: bool = True
) -> Answer:
    """Return what is shown of a list, given the truth."""
    listed = np.array(boxes, dtype=np.intp)
    area, second = _sums(truth[None], listed)
    return Answer(
        listed,
        display(float(area[0]) / counts.positives),
        display(float(second[0]) / counts.objects),
        _points(truth, counts.positives, listed) if with_points else (),
    )


def with_parts(
    one: Answer, truth: Claims, counts: Counts, parts: Mapping[str, tuple[int, ...]], *, exact: bool = False
) -> Answer:
    """Return an answer that shows scores of parts of the objects, too; the author knows which part each box is in."""
    asked = replace(one, parts=parts, exact_parts=exact)
    return replace(asked, shown_parts=_shown_parts(truth, counts.positives, asked))


def certain(
    truth: Claims,
    counts: Counts,
    answers: Sequence[Answer],
    random: np.random.Generator,
    *,
    most: int = 0,
    searches: int = SEARCHES,
) -> list[int]:
    """Return the right claims that no other truth was found to deny: an upper bound of what is certain.

    Args:
        most: stop as soon as no more than so many are left.
        searches: for truths that are not near.
    """
    right = np.flatnonzero(truth == 1)
    doubtful = np.zeros(len(truth), dtype=bool)

    def left() -> list[int]:
        return [int(claim) for claim in right if not doubtful[claim]]

    for others in near(truth):
        doubtful |= _denied(others, answers, doubtful)
        if len(left()) <= most:
            return left()
    for _ in range(searches):
        for others in _annealed(truth, counts, answers, left(), random):
            doubtful |= _denied(others, answers, doubtful)
            if len(left()) <= most:
                return left()
    return left()


def near(truth: Claims) -> Iterator[NDArray[np.int8]]:
    """Every truth with up to `EXHAUSTIVE_CHANGES` other labels, in batches: (batch, claims)."""
    others = {1: (-1, 0), 0: (1, -1), -1: (1, 0)}
    batch: list[Claims] = []
    for number in range(1, EXHAUSTIVE_CHANGES + 1):
        if len(truth) > 60 and number == EXHAUSTIVE_CHANGES:
            break
        for places in combinations(range(len(truth)), number):
            for labels in product(*(others[int(truth[place])] for place in places)):
                changed = truth.copy()
                changed[list(places)] = labels
                batch.append(changed)
            if len(batch) >= BATCH:
                yield np.array(batch)
                batch = []
    if batch:
        yield np.array(batch)


def _denied(others: NDArray[np.int8], answers: Sequence[Answer], known: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which claims some of these truths, with some numbers of objects, deny while giving the same answers."""
    denied = known.copy()
    for claims, numbers in possible(others, answers):
        denies = claims != 1
        if not (denied | ~denies).all() and any(are_answered(claims, number, answers) for number in numbers):
            denied |= denies
    return denied


def possible(others: NDArray[np.int8], answers: Sequence[Answer]) -> Iterator[tuple[Claims, range]]:
    """Yield those of some truths that give the same scores, with the numbers of objects for which they do."""
    right, difficult = (others == 1).sum(axis=1), (others == 0).sum(axis=1)
    least = np.maximum(right, 1).astype(float)
    most = np.full(len(others), float(MAX_OBJECTS))
    least_all, most_all = np.zeros(len(others)), np.full(len(others), float(MAX_OBJECTS))
    for one in answers:
        area, second = _sums(others, one.boxes)
        least, most = np.maximum(least, area / one.area[1]), np.minimum(most, _divided(area, one.area[0]))
        least_all = np.maximum(least_all, second / one.with_difficult[1])
        most_all = np.minimum(most_all, _divided(second, one.with_difficult[0]))
    least, most = np.ceil(least - 1e-9), np.floor(most + 1e-9)
    least_all, most_all = np.ceil(least_all - 1e-9), np.floor(most_all + 1e-9)
    # As many objects as can be, so that what is difficult of the claims is difficult.
    are_possible = (least <= most) & (least_all <= most_all) & (most_all >= least + difficult)
    for index in np.flatnonzero(are_possible):
        highest = int(min(most[index], most_all[index] - difficult[index]))
        yield others[index], range(int(least[index]), highest + 1)


def are_answered(truth: Claims, positives: int, answers: Sequence[Answer]) -> bool:
    """Whether a truth that is possible with so many objects gives the same answers."""
    return all(_is_answered(truth, positives, one) for one in answers)


def _is_answered(truth: Claims, positives: int, one: Answer) -> bool:
    """Whether a truth with so many objects gives the same points, and the same scores of parts."""
    if one.points and _points(truth, positives, one.boxes) != one.points:
        return False
    return not one.parts or _shown_parts(truth, positives, one) == one.shown_parts


def _shown_parts(truth: Claims, positives: int, one: Answer) -> tuple[float | None, ...]:
    """What is shown of the normalised average precision of each part; nothing if it has too many right claims."""
    labels = _labels(truth[None], one.boxes)[0]
    found: list[float | None] = []
    for share, members in _parts_of(one):
        objects = round(share * positives)
        judgement = Judgement(true=(labels == 1) & members, false=labels == -1, positives=objects)
        if np.count_nonzero(judgement.true) > objects:
            return ()
        score = normalised_average_precision(judgement, objects, NORMAL_SHARE * IMAGES)
        measure = Measure(Metric.NORMALISED_AP_SIZE_SMALL, {"class": score}, {"class": objects})
        shown = score if one.exact_parts else in_steps(measure).per_class["class"]
        found.append(None if np.isnan(shown) else round(shown, 4))
    return tuple(found)


def _parts_of(one: Answer) -> Iterator[tuple[float, NDArray[np.bool_]]]:
    """Yield the share of the objects that are in each part, and which of the listed boxes are."""
    for name, parts in one.parts.items():
        part = np.where(one.boxes == FILLER, -1, np.array(parts)[one.boxes])
        yield from ((share, part == number) for number, share in enumerate(PARTITIONS[name]))


def _divided(sums: NDArray[np.float64], score: float) -> NDArray[np.float64]:
    return sums / score if score > 0 else np.full(len(sums), np.inf)


def _labels(truths: NDArray[np.int8], boxes: NDArray[np.intp]) -> NDArray[np.int8]:
    """(truths, boxes) labels by rank."""
    return np.where(boxes == FILLER, np.int8(-1), truths[:, boxes])


def _sums(truths: NDArray[np.int8], boxes: NDArray[np.intp]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(truths,) average precision times the number of objects, difficult ones left out and counted."""
    labels = _labels(truths, boxes)
    return _sum(labels == 1, labels != 0), _sum(labels >= 0, np.ones_like(labels, dtype=bool))


def _sum(hit: NDArray[np.bool_], counted: NDArray[np.bool_]) -> NDArray[np.float64]:
    total: NDArray[np.float64] = (hit * _best(hit, counted)).sum(axis=1)
    return total


def _best(hit: NDArray[np.bool_], counted: NDArray[np.bool_]) -> NDArray[np.float64]:
    """(truths, boxes) interpolated precision: the greatest from each rank on."""
    found = hit.cumsum(axis=1)
    precision = np.where(hit, found / np.maximum(counted.cumsum(axis=1), 1), 0.0)
    best: NDArray[np.float64] = np.maximum.accumulate(precision[:, ::-1], axis=1)[:, ::-1]
    return best


def _points(truth: Claims, positives: int, boxes: NDArray[np.intp]) -> tuple[float, ...]:
    labels = _labels(truth[None], boxes)[0]
    curve = Judgement(true=labels == 1, false=labels == -1, positives=positives).curve()
    return tuple(eleven_points(curve, positives, []))


def _annealed(
    truth: Claims, counts: Counts, answers: Sequence[Answer], targets: Sequence[int], random: np.random.Generator
) -> Iterator[NDArray[np.int8]]:
    """Truths that give nearly the same answers, found by many searches at once, each of which denies one target."""
    if not targets:
        return
    target = np.array(targets)[np.arange(CHAINS) % len(targets)]
    chains = np.tile(truth, (CHAINS, 1))
    rows = np.arange(CHAINS)
    # Half of them begin far away: with a share of the claims on difficult objects, and so fewer objects to find.
    share = np.where(rows % 4 < 2, 0.0, random.random(CHAINS) / 2)
    chains[random.random(chains.shape) < share[:, None]] = 0
    chains[rows, target] = random.choice(np.array([-1, 0], dtype=np.int8), CHAINS, p=[0.8, 0.2])
    distance, temperature = _distance(chains, answers), START_TEMPERATURE
    for number in range(STEPS):
        changed = chains.copy()
        place = random.integers(len(truth), size=CHAINS)
        changed[rows, place] = random.choice(np.array([1, -1, 0], dtype=np.int8), CHAINS, p=[0.45, 0.4, 0.15])
        exchanged = random.random(CHAINS) < 0.5  # two labels, so that there are as many of each
        other = random.integers(len(truth), size=CHAINS)
        changed[exchanged, place[exchanged]] = chains[exchanged, other[exchanged]]
        changed[exchanged, other[exchanged]] = chains[exchanged, place[exchanged]]
        after = _distance(changed, answers)
        accepted = (after < distance) | (
            random.random(CHAINS) < np.exp(np.minimum((distance - after) / temperature, 0))
        )
        accepted &= changed[rows, target] != 1
        chains[accepted], distance[accepted] = changed[accepted], after[accepted]
        temperature = max(temperature * COOLING, 1e-5)
        if number % 25 == 24 and (distance < 1e-9).any():
            yield chains[distance < 1e-9].copy()


def _distance(chains: NDArray[np.int8], answers: Sequence[Answer]) -> NDArray[np.float64]:
    """(chains,) how far the answers are from those given, with the numbers of objects that fit best."""
    sums = [_sums(chains, one.boxes) for one in answers]
    middle = [(np.mean(one.area), np.mean(one.with_difficult)) for one in answers]
    largest = int(np.argmax([len(one.boxes) for one in answers]))
    right, difficult = (chains == 1).sum(axis=1), (chains == 0).sum(axis=1)
    positives = np.maximum(np.round(sums[largest][0] / max(middle[largest][0], 1e-4)), np.maximum(right, 1))
    objects = np.maximum(np.round(sums[largest][1] / max(middle[largest][1], 1e-4)), positives + difficult)
    total = np.zeros(len(chains))
    for one, (area, second) in zip(answers, sums, strict=True):
        total += _beyond(area / positives, one.area) + _beyond(second / objects, one.with_difficult)
        if one.points:
            total += _points_beyond(chains, positives, one)
        if one.parts:
            total += _parts_beyond(chains, positives, one)
    return total


def _parts_beyond(chains: NDArray[np.int8], positives: NDArray[np.float64], one: Answer) -> NDArray[np.float64]:
    """(chains,) roughly how far the exact scores of parts are from what may be shown as these."""
    labels = _labels(chains, one.boxes)
    wrong = (labels == -1).cumsum(axis=1)
    total = np.zeros(len(chains))
    for (share, members), shown in zip(_parts_of(one), one.shown_parts, strict=True):
        objects = np.maximum(np.round(share * positives), 1)
        hit = (labels == 1) & members
        found = hit.cumsum(axis=1) / objects[:, None] * NORMAL_SHARE * IMAGES
        precision = np.where(hit, found / np.maximum(found + wrong, 1), 0.0)
        best = np.maximum.accumulate(precision[:, ::-1], axis=1)[:, ::-1]
        width = 0.0001 if one.exact_parts else step_by_objects(int(np.median(objects)))
        if shown is not None:
            total += _beyond((hit * best).sum(axis=1) / objects, (shown - width / 2, shown + width / 2))
    return total


def _beyond(values: NDArray[np.float64], interval: Interval) -> NDArray[np.float64]:
    return np.maximum(interval[0] - values, 0) + np.maximum(values - interval[1], 0)


def _points_beyond(chains: NDArray[np.int8], positives: NDArray[np.float64], one: Answer) -> NDArray[np.float64]:
    """(chains,) roughly how far the exact eleven points are from what may be shown as these."""
    labels = _labels(chains, one.boxes)
    hit, found = labels == 1, (labels == 1).cumsum(axis=1)
    best = np.append(_best(hit, labels != 0), np.zeros((len(chains), 1)), axis=1)  # 0 at recalls that are not reached
    total = np.zeros(len(chains))
    typical = int(np.median(positives))
    width, highest = step(typical, is_mean_score=False), ceilings(typical)
    for place in range(SHOWN_FROM, len(ELEVEN_RECALLS)):
        shown = one.points[place]
        needed = np.maximum(np.ceil(ELEVEN_RECALLS[place] * positives - 1e-9), 1)
        value = best[np.arange(len(chains)), (found < needed[:, None]).sum(axis=1)]
        greatest = 1.0 if shown >= np.round(highest[place] / width) * width - 1e-9 else shown + width / 2
        times = SHOWN_FROM + 1 if place == SHOWN_FROM else 1  # the points before it are the same
        total += times * _beyond(value, (shown - width / 2, greatest))
    return total
