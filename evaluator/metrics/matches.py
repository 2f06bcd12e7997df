"""Which object each result matches, and which results are true positives because of it.

Source: VOC development kits, VOCevaldet.m; VOC2010 document section 4.4.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.metrics.precision_recall import Judgement, first_of_each

# Of COCO's average precision: T.-Y. Lin et al., "Microsoft COCO: Common Objects in Context", ECCV 2014;
# cocodataset.org, "Detection Evaluation".
OVERLAPS = tuple(round(0.5 + 0.05 * step, 2) for step in range(10))


@dataclass(frozen=True, eq=False)
class Matches:
    """The best-matching object of each detection, in rank order.

    Attributes:
        object: (n,) index of the object of the same class and image that the detection overlaps most, the first among
            equals.
        enough: (n,) bool, whether the overlap is sufficient; otherwise the index is meaningless.
        difficult: (m,) bool, whether each object is difficult.
        repeats_on_difficult_are_false: whether only the first detection of a difficult object is ignored (VOC2006).
    """

    object: NDArray[np.integer]
    enough: NDArray[np.bool_]
    difficult: NDArray[np.bool_]
    repeats_on_difficult_are_false: bool = False

    def judge(self, *, with_difficult: bool = False) -> Judgement:
        """Classify each detection as true positive, false positive or ignored.

        The first detection (by rank) with sufficient overlap with an object is true; later ones for the same object,
        and those without sufficient overlap, are false. A detection never falls back to another object because the best
        one is already matched.

        Args:
            with_difficult: whether to treat difficult objects as ordinary ones; otherwise they are not positives, and
                `ignored` detections do not count.
        """
        ignored = np.zeros_like(self.enough) if with_difficult else self.ignored
        true = np.zeros_like(self.enough)
        true[self._firsts] = with_difficult | ~self.difficult[self.object[self._firsts]]
        positives = len(self.difficult) if with_difficult else np.count_nonzero(~self.difficult)
        return Judgement(true=true, false=~true & ~ignored, positives=int(positives))

    @cached_property
    def _firsts(self) -> NDArray[np.int64]:
        """Return the ranks of the first detection with sufficient overlap of each object."""
        enough = np.flatnonzero(self.enough)
        return enough[first_of_each(self.object[enough])]

    @cached_property
    def ignored(self) -> NDArray[np.bool_]:
        """Return (n,) bool: whether a detection is ignored because it matches a difficult object."""
        ignored = np.zeros_like(self.enough)
        ignored[self.enough] = self.difficult[self.object[self.enough]]
        if self.repeats_on_difficult_are_false:
            on_difficult = np.flatnonzero(ignored)
            ignored[on_difficult] = first_of_each(self.object[on_difficult])
        return ignored
