"""Confidences of people as rows."""

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.tasks.classification.rows import ConfidenceRows


class ActionRows(ConfidenceRows):
    """Confidences of people."""

    def people(self, image_set: ImageSet) -> NDArray[np.int32] | None:
        """Return the people of the image set."""
        return image_set.persons
