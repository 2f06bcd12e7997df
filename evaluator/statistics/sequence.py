"""Whether an entrant's submissions, one after another, differ by more than chance.

Each submission is compared with the one before it, and the last with the first. These comparisons are corrected for
their number together, by the single-step max-T method and with the allowance for few images that `comparison` uses: if
all submissions of an entrant were equally good, the chance that any of these comparisons is called significant would be
about 5 %. It is a family for each entrant; nothing corrects for the number of entrants.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vocboard.evaluator.statistics.comparison import LEAST_REPLICATES
from vocboard.evaluator.statistics.influence import FREEDOM_OF_AN_IMAGE, degrees_of_freedom, student_quantile
from vocboard.evaluator.statistics.intervals import LEAST_ERROR, LEVEL, ReplicatedScore


@dataclass(frozen=True, slots=True)
class Change:
    """The score of a submission minus that of an earlier one.

    Attributes:
        low, high: ends of the simultaneous interval.
        counting_images: how many images determine the difference; see `ReplicatedScore.counting_images`.
    """

    difference: float
    low: float
    high: float
    counting_images: int

    @property
    def is_significant(self) -> bool:
        """Whether the interval does not contain 0."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True, slots=True)
class SequenceComparison:
    """The changes within a sequence of n submissions.

    Attributes:
        steps: (n - 1) each submission minus the one before it.
        overall: the last minus the first. Of two submissions, it is the only step.
    """

    steps: tuple[Change, ...]
    overall: Change


def compare_sequence(scores: Sequence[ReplicatedScore], *, level: float = LEVEL) -> SequenceComparison:
    """Compare the submissions of one entrant.

    Replicates that do not define the score of every submission are left out.

    Args:
        scores: in the order of submission, on the same replicates.
        level: the chance that all intervals contain the true differences.

    Raises:
        ValueError: there are fewer than two submissions, a score is undefined, or fewer than `LEAST_REPLICATES`
            replicates define all scores.
    """
    number = len(scores)
    if number < 2 or any(one.is_undefined for one in scores):
        raise ValueError("at least two submissions with a defined score can be compared")
    later = np.arange(1, number)
    earlier = later - 1
    if number > 2:  # of two, the last and the first are the only step
        later, earlier = np.append(later, number - 1), np.append(earlier, 0)
    drawn = np.array([one.replicates for one in scores])
    drawn = drawn[:, ~np.isnan(drawn).any(axis=0)]
    if drawn.shape[1] < LEAST_REPLICATES:
        raise ValueError(f"fewer than {LEAST_REPLICATES} replicates define the scores of all submissions")
    score = np.array([one.score for one in scores])
    influence = np.array([one.influence for one in scores])
    difference = score[later] - score[earlier]
    drawn_difference = drawn[later] - drawn[earlier]
    error = drawn_difference.std(axis=1, ddof=1)
    freedom = degrees_of_freedom(influence[later] - influence[earlier], drawn.shape[1])
    varies = error > LEAST_ERROR  # the same results differ in no replicate
    ratio = np.abs(drawn_difference - difference[:, None])[varies] / error[varies, None]
    critical = float(np.quantile(ratio.max(axis=0, initial=0.0), level))
    margin = student_quantile(np.full(len(error), critical), freedom.astype(np.float64)) * error
    margin[~varies & (np.abs(difference) > LEAST_ERROR)] = 1.0  # nothing is known of the error
    counting = np.where(varies, freedom // FREEDOM_OF_AN_IMAGE, 0)
    changes = tuple(
        Change(*each)
        for each in zip(
            difference.tolist(),
            (difference - margin).tolist(),
            (difference + margin).tolist(),
            counting.tolist(),
            strict=True,
        )
    )
    return SequenceComparison(changes[: number - 1], changes[-1])
