"""Scores of the example methods as confidences that a competition takes."""

import math

from vocboard.evaluator.editions import Competition

DECIMALS = 6


def confidence(score: float, competition: Competition) -> str:
    """Return a score as the text of a confidence.

    Where the edition limits confidences (`confidence_range`), the score is mapped into the range. The map is strictly
    increasing, so all ranks stay: s / (1 + |s|) takes any score to between -1 and 1, and is less flat than a logistic
    function for the large negative scores that sums of logarithms have.

    Args:
        score: any finite number; the higher, the more certain.
        competition: the one whose result file the confidence is for.
    """
    limits = competition.rules.confidence_range
    if limits is None:
        return f"{score:.{DECIMALS}f}"
    least, greatest = limits
    width = greatest - least
    fraction = (1 + score / (1 + abs(score))) / 2
    decimals = DECIMALS + max(0, -math.floor(math.log10(width)))
    return f"{least + width * fraction:.{decimals}f}"
