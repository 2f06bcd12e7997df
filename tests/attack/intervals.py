"""What is certain after uploads of ranked lists that were published, so that their leaderboard shows statistics.

The attacker is granted more than a leaderboard shows: rank ranges of the class, where leaderboards have those of the
mean. Other ground truths are searched for with the same scores, points, intervals, differences and rank ranges.
"""

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tests.attack import detections
from tests.attack.detections import FILLER, Answer, Claims
from tests.attack.labels import SPANS, Labels, Ranking, without
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
ATTEMPTS, STEPS = 6, 8000  # of the search for images
FEW_STEPS = 250  # of the search for boxes, from each ground truth with the same scores
START_TEMPERATURE, COOLING, LEAST_TEMPERATURE = 0.0005, 0.9995, 1e-5
FAR, TOO_FAR = 0.01, 1.0  # of scores and points: statistics are not looked at
Order = NDArray[np.intp]
Ends = NDArray[np.float64]  # (intervals, 2), NaN for those that are not shown
Scores = Mapping[str, ReplicatedScore]
State = TypeVar("State")
parts_of = cache(draw_parts)


def replicated_score(resampled: ResampledAveragePrecision, images: int) -> ReplicatedScore:
    """Return what the server computes of a score."""
    weights = weights_of(images)
    replicates = resampled.replicates(weights)
    influence = influences(weights, replicates[None])[0]
    return ReplicatedScore(resampled.score(), replicates, influence, bias_of(resampled, parts_of(images)))


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
        return float(beyond[~is_one].sum()) + HIDDEN_OR_NOT * differently_hidden + LEAST_TEMPERATURE


def settled(
    state: State,
    change: Callable[[State], State | None],
    distance: Callable[[State], float],
    random: np.random.Generator,
    *,
    steps: int,
) -> State | None:
    """Anneal a ground truth until what is shown is the same; None if that does not succeed.

    Args:
        change: returns a slightly different one, or None.
        distance: how far what is shown for one is from what is shown.
        steps: how many changes are tried.
    """
    far, temperature = distance(state), START_TEMPERATURE
    for _ in range(steps):
        if far == 0:
            return state
        other = change(state)
        if other is None:
            continue
        changed = distance(other)
        if changed <= far or random.random() < np.exp((far - changed) / temperature):
            state, far = other, changed
        temperature = max(temperature * COOLING, LEAST_TEMPERATURE)
    return state if far == 0 else None


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

    Args:
        rankings: what is shown of the lists without statistics.
        most: stop when so few are left.
    """
    shown, doubtful = board.statistics(truth), truth != 1
    places = [np.argsort(one.order) for one in rankings]

    def distance(labels: Labels) -> float:
        far = sum(one.distance(labels) for one in rankings)
        return far + (board.statistics(labels).distance(shown) if far <= FAR else TOO_FAR)

    for attempt in range(ATTEMPTS):
        for item in np.flatnonzero(~doubtful).tolist():
            if doubtful[item]:
                continue
            near = without(truth, item, rankings, attempt, random)
            if near is not None:
                kept, wanted = item, np.flatnonzero(~doubtful)

                def change(labels: Labels, kept: int = kept, wanted: Order = wanted) -> Labels | None:
                    """Exchange two labels of images that are close in a list, by turns one of them still certain."""
                    which, span = random.integers(len(rankings)), SPANS[random.integers(len(SPANS))]
                    order = rankings[which].order
                    first = (
                        places[which][random.choice(wanted)] if random.random() < 0.5 else random.integers(len(order))
                    )
                    second = first + random.integers(-span, span + 1)
                    if not 0 <= second < len(order):
                        return None
                    one, other = order[first], order[second]
                    if labels[one] == labels[other] or kept in (one, other):
                        return None
                    changed = labels.copy()
                    changed[one], changed[other] = labels[other], labels[one]
                    return changed

                if (found := settled(near, change, distance, random, steps=STEPS)) is not None:
                    doubtful |= found != 1
            if np.count_nonzero(~doubtful) <= most:
                return np.flatnonzero(~doubtful).tolist()
    return np.flatnonzero(~doubtful).tolist()


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

    def change(boxes: Boxes) -> Boxes:
        """Move one to three objects to images with a listed box, or to any."""
        elsewhere = boxes.elsewhere.copy()
        moved = random.integers(len(elsewhere), size=random.integers(1, 4))
        elsewhere[moved] = random.choice(board.image) if random.random() < 0.5 else random.integers(board.images)
        return replace(boxes, elsewhere=elsewhere)

    def distance(boxes: Boxes) -> float:
        return board.statistics(boxes).distance(shown)

    others = [fit for near in detections.near(truth.claims) for fit in detections.fitting(near, answers)]
    for place in random.permutation(len(others)):
        claims, positives = others[place]
        if np.count_nonzero(~doubtful) <= most:
            break
        if (doubtful | (claims == 1)).all():
            continue
        number = positives - np.count_nonzero(claims == 1)
        more = random.integers(board.images, size=max(number - len(truth.elsewhere), 0))
        elsewhere = random.permutation(np.append(truth.elsewhere, more).astype(np.int32))[:number]
        if settled(Boxes(claims, elsewhere), change, distance, random, steps=FEW_STEPS) is not None:
            doubtful |= claims != 1
    return np.flatnonzero(~doubtful).tolist()
