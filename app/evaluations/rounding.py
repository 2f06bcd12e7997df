"""Rounding of scores for display. Full precision would make it easier to infer the ground truth."""

from collections.abc import Sequence


def shown(value: float | None, decimals: int) -> float | None:
    """Round a fraction for display; None (undefined) remains None.

    >>> shown(0.123456, 4), shown(None, 4)
    (0.1235, None)
    """
    return None if value is None else round(value, decimals)


def written(value: float | None, decimals: int) -> str:
    """Format a fraction with all its decimals, so that columns align; `n/a` if undefined.

    >>> written(0.5, 4), written(None, 4)
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
