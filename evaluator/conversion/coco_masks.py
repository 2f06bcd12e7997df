"""Converts segmentations of ground truth: VOC's label maps to COCO's masks of objects, and back."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from vocboard.evaluator.conversion.json_input import number
from vocboard.evaluator.metrics.confusion_matrix import VOID
from vocboard.evaluator.tasks.instance_segmentation import rle
from vocboard.evaluator.tasks.segmentation.ground_truth import decode_label_map

MAX_OBJECTS = VOID - 1  # in an image: labels 1 to 254
_MIN_CORNERS = 3

Mask = NDArray[np.bool_]
LabelMap = NDArray[np.uint8]


@dataclass(frozen=True, eq=False, slots=True)
class MaskedObject:
    """An object of a label map: its label, the label of its class (from 1 on), and its pixels."""

    label: int
    class_label: int
    mask: Mask


@dataclass(frozen=True, eq=False, slots=True)
class MaskedImage:
    """The label maps of an image.

    Attributes:
        void: (height, width) pixels that are void in either map.
        unclear: pixels with a class but no object, or an object but no class.
    """

    objects: tuple[MaskedObject, ...]
    void: Mask
    unclear: int


def read_maps(object_map: bytes, class_map: bytes, classes: int) -> MaskedImage | str:
    """Return the objects of an image's two label maps, or what is wrong with them.

    Args:
        object_map: PNG of `SegmentationObject/`.
        class_map: PNG of `SegmentationClass/`.
        classes: number of the edition's classes.
    """
    objects, labels = decode_label_map(object_map, MAX_OBJECTS), decode_label_map(class_map, classes)
    if isinstance(objects, str) or isinstance(labels, str):
        return objects if isinstance(objects, str) else str(labels)
    if objects.shape != labels.shape:
        return "has another size than the image's SegmentationClass"
    void = (objects == VOID) | (labels == VOID)
    found = tuple(_objects(np.where(void, 0, objects), labels))
    covered = np.zeros_like(void)
    for each in found:
        covered |= each.mask
    unclear = np.count_nonzero(~void & ~covered & ((objects > 0) | (labels > 0)))
    return MaskedImage(found, void, int(unclear))


def _objects(objects: LabelMap, labels: LabelMap) -> Iterator[MaskedObject]:
    for label in np.unique(objects[objects > 0]).tolist():
        mask = objects == label
        of_class = np.unique(labels[mask])
        if len(of_class) == 1 and of_class[0] > 0:
            yield MaskedObject(label, int(of_class[0]), mask)


def to_json(mask: Mask) -> str:
    """Return COCO's JSON of a (height, width) mask: its compressed RLE."""
    height, width = mask.shape
    return f'{{"size":[{height},{width}],"counts":{json.dumps(rle.encode(rle.lengths_of(mask)))}}}'


def box_of(mask: Mask) -> tuple[int, int, int, int]:
    """Return VOC's box around the pixels of a mask that has any."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    return int(columns[0]) + 1, int(rows[0]) + 1, int(columns[-1]) + 1, int(rows[-1]) + 1


def from_json(segmentation: Any, size: tuple[int, int]) -> Mask | str:
    """Return the (height, width) mask of COCO's JSON (RLE, compressed or not, or polygons), or what is wrong with it.

    Pillow draws the polygons; pixels at their edges may differ from pycocotools.

    Args:
        segmentation: field of an annotation.
        size: width and height of the image.
    """
    width, height = size
    if isinstance(segmentation, list):
        return _drawn(segmentation, width, height)
    if not isinstance(segmentation, dict) or segmentation.get("size") != [height, width]:
        return f'is not a mask of the image: expected polygons, or "counts" with "size" [{height}, {width}]'
    counts = segmentation.get("counts")
    try:
        if isinstance(counts, str):
            lengths = rle.decode(counts)
        elif isinstance(counts, list) and all(type(each) is int and 0 <= each <= width * height for each in counts):
            lengths = np.array(counts, dtype=np.int64)
        else:
            return "has counts that are neither a text nor a list of whole numbers"
    except ValueError as error:
        return f"has counts that are not RLE: {error}"
    if int(lengths.sum()) != width * height:
        return f"has runs of {int(lengths.sum()):,} pixels; the image has {width * height:,}"
    return rle.mask_of(lengths, height, width)


def _drawn(polygons: Sequence[Any], width: int, height: int) -> Mask | str:
    picture = Image.new("1", (width, height))
    pencil = ImageDraw.Draw(picture)
    for polygon in polygons:
        sides = [number(each) for each in polygon] if isinstance(polygon, list) else [None]
        known = [float(each) for each in sides if each is not None]
        if len(known) < len(sides) or len(known) % 2 or len(known) < 2 * _MIN_CORNERS:
            return "has a polygon that is not a list of x, y, x, y, ... of three corners or more"
        # Corners are edges of pixels from 0; Pillow's are middles of pixels.
        pencil.polygon([(x - 0.5, y - 0.5) for x, y in zip(known[::2], known[1::2], strict=True)], fill=1)
    return np.array(picture, dtype=np.bool_)


class PaintedImage:
    """Label maps of an image. Objects are painted one after the other."""

    def __init__(self, size: tuple[int, int]) -> None:
        """Create empty label maps of a width and height in pixels."""
        self.objects: LabelMap = np.zeros(size[::-1], dtype=np.uint8)
        self.classes: LabelMap = np.zeros(size[::-1], dtype=np.uint8)

    def paint(self, mask: Mask, label: int, class_label: int) -> int:
        """Paint an object; return the number of pixels of other objects that it hides."""
        hidden = int(np.count_nonzero(self.objects[mask]))
        self.objects[mask], self.classes[mask] = label, class_label
        return hidden

    def paint_void(self, mask: Mask) -> None:
        """Make pixels void."""
        self.objects[mask] = self.classes[mask] = VOID
