"""`python -m benchmarks.overfitting`: how far a leaderboard can be fooled by submissions that have learnt nothing.

Somebody submits random confidences and keeps what the leaderboard says is better, in two ways:

- boosting (Blum and Hardt 2015, section 4): many independent submissions, then one with the mean of the good ones;
- greedy: each submission is the mean of what is kept and something new, which is kept if the score is better.

Every score is average precision of one class by the evaluator. The labels of fresh images are independent of those of
the test set and of all that was submitted, so the true score is chance: the share of positives. The Ladder mechanism is
that of the server. `tests/attack/test_overfitting.py` carries out the attack on the database and what it shows.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vocboard.app.evaluations.ladder import releases
from vocboard.evaluator.editions import Interpolation
from vocboard.evaluator.metrics.precision_recall import Judgement, by_confidence

IMAGES, SHARE = 2000, 0.3  # of the test set: so many images, and so many of them positive
SUBMISSIONS = 500
STEPS = (None, 0.01, 0.02, 0.05)
SEEDS = 10

Confidences = NDArray[np.float64]
Report = Callable[[Confidences], float | None]


@dataclass(frozen=True, slots=True)
class Outcome:
    """Scores that an attack has reached, as fractions.

    Attributes:
        reported: the best score that the leaderboard shows.
        true: of the last submission, on fresh images.
    """

    reported: float
    true: float


class Images:
    """A test set, and as many fresh images."""

    def __init__(self, seed: int, *, images: int = IMAGES, share: float = SHARE) -> None:
        self.random = np.random.default_rng(seed)
        self.images = images
        positives = round(images * share)
        self.is_positive = self.random.permutation(np.arange(images) < positives)
        self.is_fresh_positive = self.random.permutation(np.arange(images) < positives)

    def new(self) -> Confidences:
        """(2 n,) random confidences in the test set's images and in the fresh ones."""
        return self.random.normal(size=2 * self.images)

    def score(self, submitted: Confidences) -> float:
        """Return the average precision on the test set."""
        return average_precision(submitted[: self.images], self.is_positive)

    def true_score(self, submitted: Confidences) -> float:
        """Return the average precision on the fresh images."""
        return average_precision(submitted[self.images :], self.is_fresh_positive)


def average_precision(confidence: Confidences, is_positive: NDArray[np.bool_]) -> float:
    """Return the average precision of a class, as the area under the curve.

    Args:
        confidence: (n,)
        is_positive: (n,)
    """
    hits = is_positive[by_confidence(confidence)]
    judgement = Judgement(true=hits, false=~hits, positives=int(is_positive.sum()))
    return judgement.average_precision(Interpolation.AREA)


class Leaderboard:
    """Return the score that a leaderboard reports, with or without the Ladder mechanism."""

    def __init__(self, images: Images, step: float | None) -> None:
        self._images, self._step, self._scores = images, step, list[float | None]()
        self.best = float("-inf")

    def report(self, submitted: Confidences) -> float | None:
        """Return the score that is shown of a submission; None if none is."""
        self._scores.append(self._images.score(submitted))
        shown = self._scores[-1]
        if self._step is not None:
            *_, last = releases(self._scores, self._step, higher_is_better=True)
            shown = last.score
        if shown is not None:
            self.best = max(self.best, shown)
        return shown


def boosting(images: Images, report: Report, submissions: int) -> Confidences:
    """Submit random confidences, then the mean of those that were better than the first; return that."""
    first = images.new()
    to_beat = report(first) or 0.0
    kept, count = first.copy(), 1
    for _ in range(submissions - 2):
        candidate = images.new()
        shown = report(candidate)
        if shown is not None and shown > to_beat:
            kept, count = kept + candidate, count + 1
    kept /= count
    report(kept)
    return kept


def greedy(images: Images, report: Report, submissions: int) -> Confidences:
    """Add random confidences one by one to what was submitted, and keep each that makes it better; return the last."""
    kept, best = images.new(), -np.inf
    best = report(kept) or best
    for _ in range(submissions - 1):
        candidate = kept + images.new()
        shown = report(candidate)
        if shown is not None and shown > best:
            kept, best = candidate, shown
    return kept


ATTACKS = {"boosting": boosting, "greedy": greedy}


def attack(name: str, seed: int, step: float | None, submissions: int, *, images: int = IMAGES) -> Outcome:
    """Carry out one attack.

    Args:
        step: of the Ladder mechanism; None without it.
    """
    test = Images(seed, images=images)
    board = Leaderboard(test, step)
    last = ATTACKS[name](test, board.report, submissions)
    return Outcome(board.best, test.true_score(last))


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.overfitting", description=__doc__)
    parser.add_argument("--submissions", type=int, default=SUBMISSIONS)
    parser.add_argument("--images", type=int, default=IMAGES)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    arguments = parser.parse_args()
    print(f"{arguments.submissions} submissions, {arguments.images} images, {100 * SHARE:g} % positive: mean (maximum)")
    for name in ATTACKS:
        for step in STEPS:
            found = [
                attack(name, seed, step, arguments.submissions, images=arguments.images)
                for seed in range(arguments.seeds)
            ]
            reported, true = np.array([(one.reported, one.true) for one in found]).T
            board = "plain" if step is None else f"Ladder, step {step:g}"
            print(f"{name:9} {board:18} reported {reported.mean():.3f} ({reported.max():.3f}), true {true.mean():.3f}")


if __name__ == "__main__":
    main()
