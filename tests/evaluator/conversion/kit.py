"""A small development kit tree, and results on it, for conversions."""

from pathlib import Path

import numpy as np

from tests.evaluator.trees import an_object, annotation, write
from vocboard.evaluator.conversion import ConvertedDetection
from vocboard.evaluator.conversion.decimals import decimal
from vocboard.evaluator.editions import Edition, load
from vocboard.evaluator.image_sets import ImageSets
from vocboard.evaluator.public_tree import read_image_sets

IMAGES = tuple(f"{number:06}" for number in (1, 2, 3, 5, 8, 13))
SIZE = (375, 333)  # neither divides a power of ten


def edition() -> Edition:
    return load("VOC2007")


def tree(directory: Path) -> Path:
    size = f"<size><width>{SIZE[0]}</width><height>{SIZE[1]}</height><depth>3</depth></size>"
    boxes = {image: (10 + 7 * place, 20, 110 + 7 * place, 140) for place, image in enumerate(IMAGES)}
    files: dict[str, str | bytes] = {
        f"Annotations/{image}.xml": annotation(an_object("car", box), size=size) for image, box in boxes.items()
    }
    files["ImageSets/Main/test.txt"] = "".join(f"{image}\n" for image in IMAGES)
    return write(directory / "VOC2007", files).parent


def image_sets(directory: Path) -> ImageSets:
    return read_image_sets(directory, edition())


def random_detections(count: int = 300, seed: int = 0) -> list[ConvertedDetection]:
    """Detections with numbers of every length, grouped by class as result files are."""
    random = np.random.default_rng(seed)
    found = []
    for label in ("car", "dog", "person"):
        for _ in range(count // 3):
            left, top = random.uniform(-3, 200, 2)
            width, height = random.uniform(0.5, 150, 2)
            digits = int(random.integers(0, 17))
            numbers = (random.normal(), left, top, left + width, top + height)
            confidence, *box = (decimal(repr(round(float(number), digits) + 0.0)) for number in numbers)  # no -0.0
            image = str(random.choice(IMAGES))
            if box[2] >= box[0] and box[3] >= box[1]:
                found.append(ConvertedDetection(image, label, confidence, (box[0], box[1], box[2], box[3])))
    return found
