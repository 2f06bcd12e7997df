"""Whether some differences of scores are more than chance, with intervals that hold together.

They are corrected for their number, by the single-step max-T method and with the allowance for few images that
`comparison` uses for all pairs: if none of the true differences were other than 0, the chance that any is called
significant would be about 5 %.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vocboard.evaluator.statistics.comparison import MIN_REPLICATES
from vocboard.evaluator.statistics.influence import ERROR_ALLOWANCE, degrees_of_freedom, student_quantile
from vocboard.evaluator.statistics.intervals import LEVEL, MIN_COUNTING_IMAGES, MIN_ERROR, ReplicatedScore


@dataclass(frozen=True, slots=True)
class Change:
    """One score minus another one.

    Attributes:
        low, high: ends of the simultaneous interval; NaN if fewer than ten images determine the difference.
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


def minus(one: ReplicatedScore, other: ReplicatedScore) -> ReplicatedScore:
    """Return the difference of two scores on the same replicates of the same images, as if it were a score."""
    return ReplicatedScore(one.score - other.score, one.replicates - other.replicates, one.influence - other.influence)


def minus_independent(one: ReplicatedScore, other: ReplicatedScore) -> ReplicatedScore:
    """Return the difference of two scores on different images, as if it were a score on all of these.

    Two test sets are drawn independently of each other. The replicates of two sets of as many images draw the same
    places in both, so each replicate of the one is paired with the next one of the other.
    """
    return ReplicatedScore(
        one.score - other.score,
        one.replicates - np.roll(other.replicates, 1),
        np.concatenate((one.influence, -other.influence)),
    )


def changes(differences: Sequence[ReplicatedScore], *, level: float = LEVEL) -> tuple[Change, ...]:
    """Return differences with simultaneous intervals.

    Replicates that do not define every difference are left out.

    Args:
        differences: at least one, on the same replicates; see `minus`.
        level: the chance that all intervals contain the true differences.

    Raises:
        ValueError: a difference is undefined, or fewer than `MIN_REPLICATES` replicates define all differences.
    """
    if not differences or any(one.is_undefined for one in differences):
        raise ValueError("only defined differences can be compared")
    drawn = np.array([one.replicates for one in differences])
    drawn = drawn[:, ~np.isnan(drawn).any(axis=0)]
    if drawn.shape[1] < MIN_REPLICATES:
        raise ValueError(f"fewer than {MIN_REPLICATES} replicates define all scores")
    difference = np.array([one.score for one in differences])
    freedom = degrees_of_freedom(np.array([one.influence for one in differences]), drawn.shape[1])
    error = drawn.std(axis=1, ddof=1)
    varies = error > MIN_ERROR  # the same results differ in no replicate
    ratio = np.abs(drawn - difference[:, None])[varies] / error[varies, None]
    critical = float(np.quantile(ratio.max(axis=0, initial=0.0), level))
    margin = ERROR_ALLOWANCE * student_quantile(np.full(len(error), critical), freedom.astype(np.float64)) * error
    margin[(freedom < MIN_COUNTING_IMAGES) & varies] = np.nan
    margin[~varies & (np.abs(difference) > MIN_ERROR)] = np.nan  # other than of equal results
    counting = np.where(varies, freedom, 0)
    numbers = (difference, difference - margin, difference + margin, counting)
    return tuple(Change(*each) for each in zip(*(number.tolist() for number in numbers), strict=True))
