"""Ground truth of segmentation: the label maps of `SegmentationClass/`."""

import io

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from vocboard.evaluator.image_sets import ImageSet, Key
from vocboard.evaluator.metrics.confusion_matrix import VOID
from vocboard.evaluator.rules import TaskRules
from vocboard.evaluator.tasks.image_set_files import Listed
from vocboard.evaluator.tasks.material import Material
from vocboard.evaluator.tasks.segmentation.png import PngError, check_rows
from vocboard.evaluator.tasks.segmentation.truth import SegmentationTruth
from vocboard.evaluator.tasks.truth_reader import TruthReader

LABEL_MAP_FILE = "SegmentationClass/{}.png"  # in a development kit tree
MAXIMUM_PIXELS = 50_000_000  # of one label map; the images of VOC have some 190,000


def decode_label_map(content: bytes, classes: int) -> NDArray[np.uint8] | str:
    """Return the (height, width) labels of a PNG, or an error message."""
    try:
        with Image.open(io.BytesIO(content), formats=("PNG",)) as image:
            if image.mode not in {"P", "L"}:
                return f"is a PNG of mode {image.mode}, expected indexed colours with 8 bits"
            if image.width * image.height > MAXIMUM_PIXELS:
                return f"has {image.width} x {image.height} pixels, more than {MAXIMUM_PIXELS}"
            check_rows(content)
            label_map = np.array(image, dtype=np.uint8)
    except UnidentifiedImageError:  # its text has the address of the object in memory
        return "is not a PNG"
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError, PngError) as error:
        return f"cannot be read as a PNG: {error}"
    pixels = np.bincount(label_map.ravel(), minlength=VOID + 1)
    strange = np.flatnonzero(pixels[classes + 1 : VOID])
    if len(strange):
        return f"has label {classes + 1 + strange[0]}, expected 0 to {classes}, or {VOID} for void"
    return label_map


def read_map(file: str, largest: int, material: Material) -> NDArray[np.uint8] | None:
    """Return the (height, width) labels of a file, from 0 to the largest, or void; report a problem if it has none."""
    content = material.image_files.get(file)
    if content is None:
        message = "is not there, although other test images have theirs"
        material.problems.add("missing_label_map", message, file)
        return None
    decoded = decode_label_map(content, largest)
    if isinstance(decoded, str):
        material.problems.add("bad_label_map", decoded, file)
        return None
    return decoded


class SegmentationTruthReader(TruthReader[SegmentationTruth]):
    """Reads the ground truth of segmentation."""

    needs_annotations = False
    image_files = (LABEL_MAP_FILE,)

    def read(
        self, key: Key, listed: Listed, rules: TaskRules, material: Material
    ) -> tuple[ImageSet, SegmentationTruth | str]:
        """Return the public part and the label maps, or why there are none.

        The sizes of the maps are used as image sizes, because their pixels are compared.
        """
        names = {image: LABEL_MAP_FILE.format(image) for image in listed.images}
        if not any(name in material.image_files for name in names.values()):
            reason = "its images have no SegmentationClass" if listed.images else "its image set is empty"
            return ImageSet(listed.images), reason
        maps = (read_map(name, len(material.edition.classes), material) for name in names.values())
        truth = SegmentationTruth.of([label_map for label_map in maps if label_map is not None])
        return ImageSet(listed.images, truth.size), truth
