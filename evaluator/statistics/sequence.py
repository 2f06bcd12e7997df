"""Whether an entrant's submissions, one after another, differ by more than chance.

Each submission is compared with the one before it, and the last with the first. These comparisons are corrected for
their number together (`simultaneous`): if all submissions of an entrant were equally good, the chance that any of these
comparisons is called significant would be about 5 %. It is a family for each entrant; nothing corrects for the number
of entrants.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from vocboard.evaluator.statistics.intervals import LEVEL, ReplicatedScore
from vocboard.evaluator.statistics.simultaneous import Change, changes, minus


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
        ValueError: there are fewer than two submissions, a score is undefined, or fewer than `MIN_REPLICATES`
            replicates define all scores.
    """
    if len(scores) < 2 or any(one.is_undefined for one in scores):
        raise ValueError("at least two submissions with a defined score can be compared")
    differences = [minus(later, earlier) for earlier, later in pairwise(scores)]
    if len(scores) > 2:  # of two, the last and the first are the only step
        differences.append(minus(scores[-1], scores[0]))
    found = changes(differences, level=level)
    return SequenceComparison(found[: len(scores) - 1], found[-1])
