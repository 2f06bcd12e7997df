"""Choosing one class for each image, instead of deciding for each class whether the image shows it."""

import numpy as np
from numpy.typing import NDArray


def forced_choices(
    confidence: NDArray[np.float64], label: NDArray[np.int8], entered: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return which class is chosen for each item, and for which items that is looked at.

    The accuracy of a class is the share of its items for which it has the highest confidence. Only items that show
    exactly one class count, and of no other class a difficult object: the choice must have a right answer. If several
    classes have the highest confidence, each is chosen by an equal share.

    Source: "The 2005 PASCAL Visual Object Classes Challenge", sections 2.1 and 7 (the "forced choice" scenario, which
    the chapter recommends for discrimination between classes, but not for images of several classes).

    Args:
        confidence: (k, n) of each class entered and item; −∞ without one.
        label: (c, n) of each class of the competition: 1 positive, 0 only difficult objects, −1 negative.
        entered: (k,) index of each class entered into the rows of `label`; at least one.

    Returns:
        (k, n) the share by which each class is chosen, and (k, n) whether the item counts for the class.
    """
    is_positive = label > 0
    counted = (is_positive.sum(axis=0) == 1) & ~(label == 0).any(axis=0)
    is_highest = confidence == confidence.max(axis=0)
    return is_highest / is_highest.sum(axis=0), counted & is_positive[entered]
