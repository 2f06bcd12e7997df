"""Ground truth as arrays of a fixed shape: what there was to find, by task and image set."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from evaluator.editions import Task
from evaluator.metrics.label_runs import LabelRuns

Key = tuple[Task, str]  # task and image set, such as (Task.DETECTION, "test")

POSITIVE, DIFFICULT, NEGATIVE = 1, 0, -1  # labels of per-class image sets


@dataclass(frozen=True, eq=False, slots=True)
class Labels:
    """What each test item (image, or person) is for one class.

    Attributes:
        item: (n,) int32 index into `ImageSet.images` or `ImageSet.persons`, in the order of the class's own image set,
            which is the order that ties keep.
        label: (n,) int8, 1 positive, 0 only difficult objects (counts neither way), −1 negative.
    """

    item: NDArray[np.int32]
    label: NDArray[np.int8]


@dataclass(frozen=True, eq=False, slots=True)
class LabelTruth:
    """Truth of classification (items are images) or action (items are people)."""

    labels: Mapping[str, Labels]


@dataclass(frozen=True, eq=False, slots=True)
class DetectionTruth:
    """The objects of the edition's classes, by image and in the order of the annotation.

    Attributes:
        image: (n,) int32 index into `ImageSet.images`, non-decreasing.
        class_index: (n,) int16 index into `Edition.classes`.
        box: (n, 4) float64; see `evaluator.boxes`.
        difficult: (n,) bool.
    """

    image: NDArray[np.int32]
    class_index: NDArray[np.int16]
    box: NDArray[np.float64]
    difficult: NDArray[np.bool_]


@dataclass(frozen=True, eq=False, slots=True)
class LayoutTruth:
    """People and their parts.

    People are those that the image set lists, or, where layouts name people by box (VOC2007), all of its images.

    Attributes:
        image: (n,) int32 index into `ImageSet.images`.
        object: (n,) int32 1-based object index.
        box: (n, 4) float64.
        difficult: (n,) bool.
        part_person: (m,) int32 index of each part's person, non-decreasing.
        part_type: (m,) int8 index into `Edition.parts`.
        part_box: (m, 4) float64.
    """

    image: NDArray[np.int32]
    object: NDArray[np.int32]
    box: NDArray[np.float64]
    difficult: NDArray[np.bool_]
    part_person: NDArray[np.int32]
    part_type: NDArray[np.int8]
    part_box: NDArray[np.float64]


@dataclass(frozen=True, eq=False, slots=True)
class SegmentationTruth:
    """Label maps as runs of equal labels, which take a thirtieth of the pixels' memory and are counted as they are.

    Attributes:
        label: (m,) uint8 label of each run: 0 background, 1 to n the classes, 255 void; those of one map after another.
        last: (m,) int32 index of each run's last pixel in its map, row by row.
        end: (n,) int64 where the runs of each map end in `label` and `last`.
        size: (n, 2) int32 width and height in pixels.
    """

    label: NDArray[np.uint8]
    last: NDArray[np.int32]
    end: NDArray[np.int64]
    size: NDArray[np.int32]

    @classmethod
    def of(cls, label_maps: Iterable[NDArray[np.uint8]]) -> Self:
        """Take label maps apart, each (height, width): 0 background, 1 to n the classes, 255 void."""
        maps = [LabelRuns.of(label_map) for label_map in label_maps]
        return cls(
            label=np.concatenate([np.empty(0, np.uint8), *(each.label for each in maps)]),
            last=np.concatenate([np.empty(0, np.int32), *(each.last for each in maps)]),
            end=np.cumsum([len(each.label) for each in maps], dtype=np.int64),
            size=np.array([each.shape[::-1] for each in maps], dtype=np.int32).reshape(-1, 2),
        )

    def __len__(self) -> int:
        return len(self.end)

    def runs(self, image: int) -> LabelRuns:
        """Return the label map of the image with this index into `ImageSet.images`."""
        own = slice(self.end[image - 1] if image else 0, self.end[image])
        width, height = self.size[image].tolist()
        return LabelRuns(self.label[own], self.last[own], (height, width))


Truth = LabelTruth | DetectionTruth | LayoutTruth | SegmentationTruth
