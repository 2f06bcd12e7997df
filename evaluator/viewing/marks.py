"""Marks of detections and regions, from the evaluation's own matching and the diagnosis's kinds of errors."""

from collections.abc import Mapping
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.diagnosis.errors import ERRORS, Diagnosed, Error


class Mark(IntEnum):
    """How a result counts. The numbers are used in the page's data."""

    UNJUDGED = 0
    CORRECT = 1
    IGNORED = 2
    DUPLICATE = 3
    LOCATION = 4
    CONFUSED = 5
    BACKGROUND = 6
    POSITIVE = 7  # for confidences, which are neither correct nor wrong
    NEGATIVE = 8
    WRONG = 9  # without a kind of error
    BOTH = 10

    @property
    def title(self) -> str:
        """Name of the mark; errors have the same names as in diagnoses."""
        return {Mark.CONFUSED: "class"}.get(self, self.name.lower())


_OF_ERRORS: Mapping[Error, Mark] = {
    Error.LOCATION: Mark.LOCATION,
    Error.CLASS: Mark.CONFUSED,
    Error.DUPLICATE: Mark.DUPLICATE,
    Error.BACKGROUND: Mark.BACKGROUND,
    Error.BOTH: Mark.BOTH,
}
_BY_ERROR = np.array([_OF_ERRORS[error] for error in ERRORS], dtype=np.uint8)


def marks_of(diagnosed: Diagnosed) -> NDArray[np.uint8]:
    """Return (n,) `Mark` of the results of one class, by decreasing confidence."""
    mark = np.full(len(diagnosed.error), Mark.IGNORED, dtype=np.uint8)
    is_error = diagnosed.error >= 0
    mark[is_error] = _BY_ERROR[diagnosed.error[is_error]]
    mark[diagnosed.judgement.true] = Mark.CORRECT
    return mark
