"""Choosing one class for each image, instead of deciding for each class whether the image shows it."""

import numpy as np
from numpy.typing import NDArray


def forced_choice_accuracy(
    confidence: NDArray[np.float64], label: NDArray[np.int8], entered: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return, for each class entered, the share of its items for which it has the highest confidence.

    Only items that show exactly one class count, and of no other class a difficult object: the choice must have a right
    answer. If several classes have the highest confidence, each is chosen by an equal share.

    Source: "The 2005 PASCAL Visual Object Classes Challenge", sections 2.1 and 7 (the "forced choice" scenario, which
    the chapter recommends for discrimination between classes, but not for images of several classes).

    Args:
        confidence: (k, n) of each class entered and item; −∞ without one.
        label: (c, n) of each class of the competition: 1 positive, 0 only difficult objects, −1 negative.
        entered: (k,) index of each class entered into the rows of `label`.

    Returns:
        (k,) fractions; NaN for classes without such items.
    """
    is_positive = label > 0
    counted = (is_positive.sum(axis=0) == 1) & ~(label == 0).any(axis=0)
    found = np.full(len(entered), np.nan)
    if not len(entered):
        return found
    is_highest = confidence == confidence.max(axis=0)
    chosen = is_highest / is_highest.sum(axis=0)
    for row, index in enumerate(entered.tolist()):
        own = counted & is_positive[index]
        if own.any():
            found[row] = chosen[row, own].mean()
    return found
