"""Rounding of scores for display. Full precision would make it easier to infer the ground truth."""

import statistics
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal


def rounded(value: float | None, decimals: int) -> float | None:
    """Round a fraction for display; None (undefined) remains None.

    >>> rounded(0.123456, 4), rounded(None, 4)
    (0.1235, None)
    """
    return None if value is None else round(value, decimals)


def rounded_median(values: Sequence[float], decimals: int) -> float | None:
    """Return the median of fractions for display; None without any.

    A median between two rounded fractions is often half way between two others. As a decimal, unlike as a binary
    fraction, it is exactly there, and is always rounded away from zero.

    >>> rounded_median([0.6, 0.69], 2), rounded_median([0.78, 0.69], 2), rounded_median([], 2)
    (0.65, 0.74, None)
    """
    if not values:
        return None
    middle = sorted(values)[(len(values) - 1) // 2 : len(values) // 2 + 1]  # one or two
    median = statistics.median(Decimal(str(value)) for value in middle)
    return float(median.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP))


def format_fraction(value: float | None, decimals: int) -> str:
    """Format a fraction with all its decimals, so that columns align; `n/a` if undefined.

    >>> format_fraction(0.5, 4), format_fraction(None, 4)
    ('0.5000', 'n/a')
    """
    return "n/a" if value is None else f"{value:.{decimals}f}"


def row_shares(matrix: Sequence[Sequence[int]], decimals: int) -> list[list[float | None]]:
    """Return a confusion matrix as fractions of each row, without the counts, which would reveal exact scores.

    >>> row_shares([[1, 2], [0, 0]], 4)
    [[0.3333, 0.6667], [None, None]]
    """
    return [
        [round(count / total, decimals) if total else None for count in row] for row in matrix for total in [sum(row)]
    ]
