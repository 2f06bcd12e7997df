"""Converts boxes in memory from the conventions of other tools to VOC's.

VOC counts pixels from 1 and includes the right column and the bottom row. The others measure edges from 0: the first
pixel extends from 0 to 1. So `left` and `top` differ by one, while `right` and `bottom` are equal.
"""

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

BoxFormat = Literal["voc", "xyxy", "xywh", "cxcywh"]
BOX_FORMATS: tuple[str, ...] = get_args(BoxFormat)


def to_voc(box: NDArray[np.float64], box_format: BoxFormat) -> NDArray[np.float64]:
    """Return boxes in VOC's convention.

    Args:
        box: (n, 4) in pixels.
        box_format: `voc`: left, top, right, bottom, 1-based and inclusive. `xyxy`: x1, y1, x2, y2 measured from 0, as
            in torchvision. `xywh`: x, y, width, height measured from 0, as in COCO. `cxcywh`: centre x, centre y,
            width, height, measured from 0.

    Returns:
        (n, 4) left, top, right, bottom; 1-based, inclusive.

    >>> to_voc(np.array([[0.0, 0.0, 10.0, 5.0]]), "xywh").tolist()
    [[1.0, 1.0, 10.0, 5.0]]
    """
    first, second = box[:, :2], box[:, 2:]
    match box_format:
        case "voc":
            return box
        case "xyxy":
            corners = first, second
        case "xywh":
            corners = first, first + second
        case "cxcywh":
            corners = first - second / 2, first + second / 2
    return np.concatenate([corners[0] + 1, corners[1]], axis=1)
