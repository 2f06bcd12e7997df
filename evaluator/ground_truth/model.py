"""Ground truth as arrays of a fixed shape: what there was to find, by task and image set."""

import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluator.editions import Task

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
    """Label maps, compressed one by one and decoded when asked for.

    Attributes:
        data: the compressed maps (zlib, row by row, one byte a pixel), one after the other.
        end: (n,) int64 where each map ends in `data`.
        size: (n, 2) int32 width and height in pixels.
    """

    data: NDArray[np.uint8]
    end: NDArray[np.int64]
    size: NDArray[np.int32]

    @classmethod
    def of(cls, label_maps: Iterable[NDArray[np.uint8]]) -> "SegmentationTruth":
        """Compress label maps, each (height, width): 0 background, 1 to n the classes, 255 void."""
        compressed, sizes = [], []
        for label_map in label_maps:
            height, width = label_map.shape
            compressed.append(zlib.compress(label_map.tobytes(), level=1))  # flat areas: higher levels gain little
            sizes.append((width, height))
        return cls(
            data=np.frombuffer(b"".join(compressed), dtype=np.uint8),
            end=np.cumsum([len(data) for data in compressed], dtype=np.int64),
            size=np.array(sizes, dtype=np.int32).reshape(-1, 2),
        )

    def __len__(self) -> int:
        return len(self.end)

    def label_map(self, image: int) -> NDArray[np.uint8]:
        """Return the (height, width) labels of the image with this index into `ImageSet.images`."""
        start = self.end[image - 1] if image else 0
        width, height = self.size[image]
        pixels = zlib.decompress(self.data[start : self.end[image]].data, bufsize=int(width) * int(height))
        return np.frombuffer(pixels, dtype=np.uint8).reshape(height, width)


Truth = LabelTruth | DetectionTruth | LayoutTruth | SegmentationTruth
