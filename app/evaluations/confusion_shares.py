"""The public form of a confusion matrix: shares of each true class's pixels, too coarse to reveal single images.

Somebody could fill each of twenty images with a different label. The row of a class would then reveal which of these
images contain the class, and how much of it. See docs/detail-levels.md for what remains visible.
"""

from collections.abc import Sequence

from vocboard.app.evaluations.eleven_points import DECIMALS, MAX_STEP, STEPS

# On average, an image has 1/n of its class's pixels. Less than half a step, which is twice that, is shown as 0.
STEP_TIMES_IMAGES = 4


def confusion_shares(matrix: Sequence[Sequence[int]], images: Sequence[int]) -> list[list[float | None]]:
    """Return fractions of each row, the pixels of the true class, rounded to the step for its number of images.

    Args:
        matrix: pixels, rows truth, columns result.
        images: number of test images with the label, by row.

    Returns:
        The shares; a row is all None if its label is in so few images that no step up to `MAX_STEP` hides single ones.

    >>> confusion_shares([[88, 12], [30, 70], [1, 0]], [400, 40, 39])
    [[0.88, 0.12], [0.3, 0.7], [None, None]]
    """
    return [_row(row, step(count)) for row, count in zip(matrix, images, strict=True)]


def step(images: int) -> float | None:
    """Return the rounding step for shares of a class in this many images; None to show nothing.

    >>> step(1000), step(100), step(40), step(39)
    (0.01, 0.05, 0.1, None)
    """
    return next((width for width in STEPS if width <= MAX_STEP and width * images >= STEP_TIMES_IMAGES), None)


def steps_of(shares: Sequence[Sequence[float | None]]) -> list[float | None]:
    """Return the step of each row that an earlier version has stored without one: the largest that it can have.

    >>> steps_of([[0.88, 0.12], [0.5, 0.5], [None, None]])
    [0.02, 0.5, None]
    """
    return [_largest(row) for row in shares]


def _largest(row: Sequence[float | None]) -> float | None:
    known = [round(100 * share) for share in row if share is not None]
    return (
        next((width for width in reversed(STEPS) if not any(one % round(100 * width) for one in known)), None)
        if known
        else None
    )


def _row(row: Sequence[int], width: float | None) -> list[float | None]:
    total = sum(row)
    if not total or width is None:
        return [None] * len(row)
    return [round(round(count / total / width) * width, DECIMALS) for count in row]
