"""Scores as people may see them: never at full precision, which would let them probe the ground truth."""


def shown(value: float | None, decimals: int) -> float | None:
    """Round a fraction for display; None (undefined) stays None.

    >>> shown(0.123456, 4), shown(None, 4)
    (0.1235, None)
    """
    return None if value is None else round(value, decimals)


def written(value: float | None, decimals: int) -> str:
    """Write a fraction out, with all its decimals so that columns line up; `n/a` where undefined.

    >>> written(0.5, 4), written(None, 4)
    ('0.5000', 'n/a')
    """
    return "n/a" if value is None else f"{value:.{decimals}f}"
