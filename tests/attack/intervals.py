"""What is certain after uploads of ranked lists that were published, so that their leaderboard shows statistics.

The attacker is granted more than a leaderboard shows: rank ranges of the class, where leaderboards have those of the
mean. Other ground truths are searched for with the same scores, points, intervals, differences and rank ranges.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from tests.attack import detections
from tests.attack.detections import FILLER, Answer, Claims
from tests.attack.labels import Labels, Ranking
from vocboard.evaluator.editions import Interpolation
from vocboard.evaluator.evidence.average_precision import ResampledAveragePrecision
from vocboard.evaluator.metrics.precision_recall import Judgement
from vocboard.evaluator.statistics.bias import bias_of, draw_parts
from vocboard.evaluator.statistics.influence import influences
from vocboard.evaluator.statistics.intervals import ReplicatedScore
from vocboard.worker.comparisons import FEW_DECIMALS, compared, rounded_differences, shown_interval
from vocboard.worker.replicates import weights_of

UNIT = 10.0**-FEW_DECIMALS  # to which ends are rounded outwards
HIDDEN_OR_NOT = 1.0  # distance of an end that is shown in one case only
DIFFERENT = 1e-3  # distance of each interval, difference or rank range that is not the same, on top of that of its ends
STEPS, STEPS_OF_EFFECTS = 400_000, 300  # of the search for images, and between computations of effects
MORE_PAIRS, CANDIDATES = 8, 400  # exchanged in a step, at most; and pairs of which the best is chosen
FEW_STEPS = 250  # of the search for boxes, from each ground truth with the same scores
START_TEMPERATURE, COOLING, LEAST_TEMPERATURE = 0.0005, 0.9995, 1e-5
TEMPERATURE = 2 * LEAST_TEMPERATURE  # of the search for images
FAR, TOO_FAR = 0.01, 1.0  # of scores and points: statistics are not looked at
Order = NDArray[np.intp]
Ends = NDArray[np.float64]  # (intervals, 2), NaN for those that are not shown
Scores = Mapping[str, ReplicatedScore]
parts_of = cache(draw_parts)


def replicated_score(resampled: ResampledAveragePrecision, images: int) -> ReplicatedScore:
    """Return what the server computes of a score."""
    weights = weights_of(images)
    replicates = resampled.replicates(weights)
    influence = influences(weights, replicates[None])[0]
    bias = bias_of(resampled, resampled.replicates(parts_of(images)))
    return ReplicatedScore(resampled.score(), replicates, influence, bias)


def replicated(labels: Labels, order: Order) -> ReplicatedScore:
    """Return the average precision of a list of images, the best first, and its replicates."""
    by_rank, positive = labels[order], np.flatnonzero(labels == 1).astype(np.int32)
    judgement = Judgement(true=by_rank == 1, false=by_rank == -1, positives=len(positive))
    resampled = ResampledAveragePrecision(judgement, order.astype(np.int32), positive, Interpolation.AREA)
    return replicated_score(resampled, len(labels))


@dataclass(frozen=True, eq=False)
class Statistics:
    """What a leaderboard shows of the lists of an attacker, beside their scores, and the ends before rounding.

    Attributes:
        shown: intervals of the lists, differences of their pairs, and their rank ranges.
        ends: of the intervals, then of the differences.
    """

    shown: tuple[object, ...]
    ends: Ends

    @classmethod
    def of(cls, scores: Scores, lists: int, decimals: int) -> "Statistics":
        """Return those of a leaderboard whose first so many scores are of the attacker."""
        own, names = list(scores)[:lists], list(scores)
        intervals = [shown_interval(scores[name], decimals) for name in own]
        ends = [scores[name].interval() for name in own]
        exact = [
            (np.nan,) * 2 if one is None else (end.low, end.high) for one, end in zip(intervals, ends, strict=True)
        ]
        if len(names) == 1:
            return cls(tuple(intervals), np.array(exact))
        pairs = compared(scores, decimals, higher_is_better=True)
        assert pairs is not None
        ids = {name: uuid.UUID(int=names.index(name)) for name in pairs.methods}
        rounded = rounded_differences(pairs, list(ids.values()), decimals)
        places = {name: place for place, name in enumerate(pairs.methods)}
        differences = []
        for one, other in combinations(own, 2):
            found = rounded.of(ids[one], ids[other], decimals)
            differences.append(found and (found.low, found.high, found.is_significant))
            first, second = sorted((places[one], places[other]))
            low, high = float(pairs.low[first, second]), float(pairs.high[first, second])
            exact.append((np.nan,) * 2 if found is None else (low, high) if first == places[one] else (-high, -low))
        ranks = [(*pairs.rank_ranges[name], name in pairs.first_group) for name in own]
        return cls((*intervals, *differences, *ranks), np.array(exact))

    def distance(self, other: "Statistics") -> float:
        """How far the ends are from those that are shown as the other's are; 0 if all of what is shown is the same."""
        if self.shown == other.shown:
            return 0.0
        is_one = np.isnan(self.ends) | np.isnan(other.ends)
        least = np.stack((np.floor(other.ends[:, 0] / UNIT), np.ceil(other.ends[:, 1] / UNIT) - 1), axis=1) * UNIT
        beyond = np.maximum(least - self.ends, 0) + np.maximum(self.ends - least - UNIT, 0)
        differently_hidden = np.count_nonzero(np.isnan(self.ends) != np.isnan(other.ends))
        different = sum(ours != theirs for ours, theirs in zip(self.shown, other.shown, strict=True))
        return float(beyond[~is_one].sum()) + HIDDEN_OR_NOT * differently_hidden + DIFFERENT * different


@dataclass(frozen=True, eq=False)
class Board:
    """Lists of all images by an attacker, published beside those of others.

    Attributes:
        lists: of the attacker.
        others: lists of other people, which the attacker does not know.
        decimals: of scores.
    """

    lists: Sequence[Order]
    others: Sequence[Order] = ()
    decimals: int = 2

    def statistics(self, labels: Labels) -> Statistics:
        """What is shown for a ground truth."""
        orders = (*self.lists, *self.others)
        scores = {str(number): replicated(labels, order) for number, order in enumerate(orders)}
        return Statistics.of(scores, len(self.lists), self.decimals)


def certain(
    truth: Labels, board: Board, rankings: Sequence[Ranking], random: np.random.Generator, *, most: int = 0
) -> list[int]:
    """Return the positives for which no other truth was found that denies them; an upper bound of what is certain.

    Walks from the truth to others, mostly among those of which the same is shown.

    Args:
        rankings: what is shown of the lists without statistics.
        most: stop when so few are left.
    """
    shown, doubtful = board.statistics(truth), truth != 1
    bounds = [one.bounds(int(np.count_nonzero(truth == 1))) for one in rankings]
    least, greatest = (np.concatenate(which) for which in zip(*bounds, strict=True))

    def distance(labels: Labels) -> float:
        far = sum(one.distance(labels) for one in rankings)
        return far + (board.statistics(labels).distance(shown) if far <= FAR else TOO_FAR)

    labels, far = truth, 0.0
    for step in range(STEPS):
        if np.count_nonzero(~doubtful) <= most:
            break
        if step % STEPS_OF_EFFECTS == 0:
            effects = np.concatenate([one.effects(labels) for one in rankings], axis=1)
        now = np.concatenate([one.exact(labels) for one in rankings])
        other = exchanged(labels, doubtful, Aim(now, effects, least, greatest), random)
        changed = distance(other)
        if changed <= far or random.random() < np.exp((far - changed) / TEMPERATURE):
            labels, far = other, changed
            if far == 0:
                doubtful |= labels != 1
    return np.flatnonzero(~doubtful).tolist()


@dataclass(frozen=True, eq=False)
class Aim:
    """Scores and points of a ground truth, and those which are shown in the same way.

    Attributes:
        now: (values,)
        effects: (items, values) of making each item a positive, about.
        least, greatest: (values,)
    """

    now: NDArray[np.float64]
    effects: NDArray[np.float64]
    least: NDArray[np.float64]
    greatest: NDArray[np.float64]

    def misses(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return by how much (..., values) are shown differently."""
        return (np.maximum(self.least - values, 0) + np.maximum(values - self.greatest, 0)).sum(axis=-1)


def exchanged(labels: Labels, doubtful: NDArray[np.bool_], aim: Aim, random: np.random.Generator) -> Labels:
    """Make a positive a negative, mostly one still certain, and others the reverse so that about the same is shown."""
    other = labels.copy()
    wanted = np.flatnonzero(~doubtful & (labels == 1))
    first = random.choice(wanted if len(wanted) and random.random() < 0.7 else np.flatnonzero(labels == 1))
    negative = np.flatnonzero(labels == -1)
    misses = aim.misses(aim.now - aim.effects[first] + aim.effects[negative])
    place = min(int(random.exponential(6)), len(negative) - 1)
    second = negative[np.argpartition(misses + 1e-9 * random.random(len(misses)), place)[place]]
    other[first], other[second] = -1, 1
    values = aim.now - aim.effects[first] + aim.effects[second]
    for _ in range(MORE_PAIRS):
        if (least := aim.misses(values)) == 0:
            break
        ones = random.choice(np.setdiff1d(np.flatnonzero(other == 1), second), CANDIDATES)
        others = random.choice(np.setdiff1d(np.flatnonzero(other == -1), first), CANDIDATES)
        changes = aim.effects[others] - aim.effects[ones]
        misses = aim.misses(values + changes)
        best = int(np.argmin(misses))
        if misses[best] >= least:
            break
        other[ones[best]], other[others[best]] = -1, 1
        values = values + changes[best]
    return other


@dataclass(frozen=True, eq=False)
class Boxes:
    """A ground truth for the boxes that an attacker lists.

    Attributes:
        claims: which boxes are right: each on an object of its own.
        elsewhere: images of the objects that no box matches.
    """

    claims: Claims
    elsewhere: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class BoxBoard:
    """Lists of boxes by an attacker, published.

    Attributes:
        lists: claims by rank, or `FILLER`.
        image: (claims,) of each box; a filler is in image 0.
        images: number of test images.
        decimals: of scores.
    """

    lists: Sequence[Sequence[int]]
    image: NDArray[np.int32]
    images: int
    decimals: int = 2

    def statistics(self, truth: Boxes) -> Statistics:
        """What is shown for a ground truth."""
        positive = np.concatenate([self.image[truth.claims == 1], truth.elsewhere])
        scores = {}
        for number, boxes in enumerate(self.lists):
            listed = np.array(boxes)
            labels = np.where(listed == FILLER, -1, truth.claims[listed])
            image = np.where(listed == FILLER, 0, self.image[listed]).astype(np.int32)
            judgement = Judgement(true=labels == 1, false=labels == -1, positives=len(positive))
            resampled = ResampledAveragePrecision(judgement, image, positive, Interpolation.AREA)
            scores[str(number)] = replicated_score(resampled, self.images)
        return Statistics.of(scores, len(self.lists), self.decimals)


def certain_boxes(
    truth: Boxes, board: BoxBoard, answers: Sequence[Answer], random: np.random.Generator, *, most: int = 0
) -> list[int]:
    """Return the right boxes for which no other truth was found that denies them: an upper bound of what is certain.

    Args:
        answers: what is shown of the lists without statistics.
        most: stop when so few are left.
    """
    shown = board.statistics(truth)
    doubtful = truth.claims != 1

    def is_reached(boxes: Boxes) -> bool:
        """Move objects that no box matches, one to three at a time, until the same is shown, if that succeeds."""
        far, temperature = board.statistics(boxes).distance(shown), START_TEMPERATURE
        for _ in range(FEW_STEPS):
            if far == 0:
                break
            elsewhere = boxes.elsewhere.copy()
            moved = random.integers(len(elsewhere), size=random.integers(1, 4))
            elsewhere[moved] = random.choice(board.image) if random.random() < 0.5 else random.integers(board.images)
            other = replace(boxes, elsewhere=elsewhere)
            changed = board.statistics(other).distance(shown)
            if changed <= far or random.random() < np.exp((far - changed) / temperature):
                boxes, far = other, changed
            temperature = max(temperature * COOLING, LEAST_TEMPERATURE)
        return far == 0

    others = [
        (claims, number)
        for near in detections.near(truth.claims)
        for claims, numbers in detections.possible(near, answers)
        for number in numbers
    ]
    for place in random.permutation(len(others)):
        claims, positives = others[place]
        if np.count_nonzero(~doubtful) <= most:
            break
        if (doubtful | (claims == 1)).all() or not detections.are_answered(claims, positives, answers):
            continue
        number = positives - np.count_nonzero(claims == 1)
        more = random.integers(board.images, size=max(number - len(truth.elsewhere), 0))
        elsewhere = random.permutation(np.append(truth.elsewhere, more).astype(np.int32))[:number]
        if is_reached(Boxes(claims, elsewhere)):
            doubtful |= claims != 1
    return np.flatnonzero(~doubtful).tolist()
