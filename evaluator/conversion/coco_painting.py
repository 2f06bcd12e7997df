"""Paints the label maps of a tree from the segmentations of COCO's ground truth."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from vocboard.evaluator.conversion.coco_masks import MAX_OBJECTS, PaintedImage, from_json
from vocboard.evaluator.conversion.coco_truth import LABEL_FIELD, VOID_FIELD
from vocboard.evaluator.conversion.painting import indexed_png
from vocboard.evaluator.conversion.problems import ProblemCollector
from vocboard.evaluator.editions import Edition, Task, image_sets_of
from vocboard.evaluator.problems import Severity
from vocboard.evaluator.tasks.image_set_files import file_of
from vocboard.evaluator.tasks.instance_segmentation.ground_truth import OBJECT_MAP_FILE
from vocboard.evaluator.tasks.segmentation.ground_truth import LABEL_MAP_FILE

Size = tuple[int, int]


class Painting:
    """Paints the segmentations of one JSON, image by image.

    Attributes:
        count: number of objects painted.
    """

    def __init__(
        self, sizes: Mapping[str, Size | None], classes: tuple[str, ...], problems: ProblemCollector, file: str
    ) -> None:
        """Take the images' sizes, the edition's classes, the collector of problems, and the file name for messages."""
        self.count = 0
        self._sizes, self._classes = sizes, classes
        self._problems, self._file = problems, file
        self._images: dict[str, PaintedImage] = {}
        self._void: dict[str, Any] = {}

    def take_void(self, row: Any, place: int, stems: Mapping[str, str]) -> None:
        """Store the void pixels of an image, which are painted last. An image that has them counts as segmented."""
        if isinstance(row, dict) and VOID_FIELD in row and str(row.get("id")) in stems:
            image = stems[str(row["id"])]
            painted, size = self._painted(image), self._sizes[image]
            mask = None if painted is None or size is None else from_json(row[VOID_FIELD], size)
            if mask is None or isinstance(mask, str):
                self._refuse(mask or "is of an image without width and height", place)
            else:
                self._void[image] = mask

    def take(self, row: Mapping[str, Any], name: str, image: str, place: int, number: int) -> int | None:
        """Paint an annotation's segmentation, and return its label; None if it has none.

        Args:
            row: the annotation.
            name: name of its class.
            image: its image.
            place: number of the annotation in the list, from 1 on.
            number: number of the object in its image, from 1 on. It is the label unless the annotation names another.
        """
        segmentation = row.get("segmentation")
        if not segmentation:
            return None
        size, painted = self._sizes[image], self._painted(image)
        mask = "is of an image without width and height" if size is None else from_json(segmentation, size)
        label = row.get(LABEL_FIELD, number)
        if isinstance(mask, str) or painted is None:
            self._refuse(str(mask), place)
            return None
        if not (isinstance(label, int) and 1 <= label <= MAX_OBJECTS):
            self._problems.add(
                "too_many_objects", f"objects beyond the {MAX_OBJECTS} that a label map can tell apart",
                "Leave out their segmentations.", file=self._file, line=place, value=image, noun="annotation",
            )  # fmt: skip
            return None
        if isinstance(segmentation, list):
            self._problems.add(
                "polygons", "segmentations that are polygons",
                "They were painted; pixels of their edges may differ from those of pycocotools.",
                file=self._file, line=place, noun="annotation", severity=Severity.WARNING,
            )  # fmt: skip
        if painted.paint(mask, label, self._classes.index(name) + 1):
            self._problems.add(
                "hidden_pixels", "segmentations that hide pixels of an earlier one",
                "A label map has one object in a pixel: the later one.",
                file=self._file, line=place, value=image, noun="annotation", severity=Severity.WARNING,
            )  # fmt: skip
        self.count += 1
        return label

    def finish(self) -> None:
        """Paint the void pixels."""
        for image, mask in self._void.items():
            self._images[image].paint_void(mask)

    def pixels(self, image: str, label: int) -> int:
        """Return the number of pixels that an object has in its label map."""
        return int(np.count_nonzero(self._images[image].objects == label))

    def write(self, tree: Path, edition: Edition) -> None:
        """Write the label maps and the image set of segmentation, if any image is segmented."""
        if not self._images:
            return
        images = [image for image in self._sizes if image in self._images]
        for image in images:
            painted = self._images[image]
            for file, labels in ((OBJECT_MAP_FILE, painted.objects), (LABEL_MAP_FILE, painted.classes)):
                path = tree / file.format(image)
                path.parent.mkdir(exist_ok=True)
                path.write_bytes(indexed_png(labels))
        listed = tree / file_of(edition, (Task.SEGMENTATION, image_sets_of(edition)[0]))
        listed.parent.mkdir(parents=True, exist_ok=True)
        listed.write_text("".join(f"{image}\n" for image in images), encoding="utf-8")

    def _painted(self, image: str) -> PaintedImage | None:
        size = self._sizes[image]
        if size is None:
            return None
        if image not in self._images:
            self._images[image] = PaintedImage(size)
        return self._images[image]

    def _refuse(self, found: str, place: int) -> None:
        self._problems.add(
            "bad_segmentation", f"a segmentation {found}",
            "Write polygons or RLE of the size of the image, as COCO's JSON has them, or leave the field out.",
            file=self._file, line=place, noun="annotation",
        )  # fmt: skip
