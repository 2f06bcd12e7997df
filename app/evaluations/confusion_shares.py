"""What everyone may see of a confusion matrix: shares of each true class's pixels, too coarse to show a single image.

Somebody may give each of twenty images a label of its own. The row of a class would then tell, column by column, which
of these images show the class and how much of it. What is shown all the same is in docs/detail-levels.md.
"""

from collections.abc import Sequence

from vocboard.app.evaluations.eleven_points import DECIMALS, STEPS

# An image has one share in n of its class's pixels on average. Less than half a step is shown as 0: twice the average.
STEP_TIMES_IMAGES = 4


def confusion_shares(matrix: Sequence[Sequence[int]], images: Sequence[int]) -> list[list[float | None]]:
    """Return fractions of each row, the pixels of the true class, rounded to the step for its number of images.

    Args:
        matrix: pixels, rows truth, columns result.
        images: by row, how many test images show the label.

    Returns:
        The shares; None throughout a row of so few images that no step below 1 hides one of them.

    >>> confusion_shares([[88, 12], [30, 70], [1, 0]], [400, 40, 5])
    [[0.88, 0.12], [0.3, 0.7], [None, None]]
    """
    return [_row(row, step(count)) for row, count in zip(matrix, images, strict=True)]


def step(images: int) -> float | None:
    """Return the step to whose multiples shares of a class in so many images are rounded; None to show nothing.

    >>> step(1000), step(100), step(40), step(5)
    (0.01, 0.05, 0.1, None)
    """
    return next((width for width in STEPS[:-1] if width * images >= STEP_TIMES_IMAGES), None)


def _row(row: Sequence[int], width: float | None) -> list[float | None]:
    total = sum(row)
    if not total or width is None:
        return [None] * len(row)
    return [round(round(count / total / width) * width, DECIMALS) for count in row]
