"""Messages about results in memory for a test set of three small images."""

from typing import Any

import numpy as np

import vocboard
from vocboard.evaluator.image_sets import ImageSet, ImageSets
from vocboard.evaluator.public_api.errors import located
from vocboard.evaluator.rules import Edition, Task

IMAGES = ("2008_000001", "2008_000002", "2008_000003")
WIDTH, HEIGHT = 5, 4
PEOPLE = [("2008_000001", 1), ("2008_000001", 2), ("2008_000003", 1)]
OF_IMAGES = "of 3 images such as '2008_000001'. Take the identifiers from the image set file."


class FailingTensor:
    """An array-like object that NumPy cannot read, like a tensor on a GPU."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        raise TypeError("can't convert cuda:0 device type tensor to numpy.")

    def __len__(self) -> int:
        return len(IMAGES)


def image_sets(edition: Edition) -> ImageSets:
    """Return the public image sets of the three images, three people in them."""
    persons = np.array([(IMAGES.index(image), index) for image, index in PEOPLE], dtype=np.int32)
    sizes = np.tile(np.array([[WIDTH, HEIGHT]], dtype=np.int32), (len(IMAGES), 1))
    of_people = (Task.LAYOUT, Task.ACTION)
    sets = {
        (each.task, each.image_set): ImageSet(IMAGES, sizes, persons if each.task in of_people else None)
        for each in edition.competitions.values()
    }
    return ImageSets(edition.name, sets)


def messages(competition: str, content: object, edition: Edition | str = "VOC2012", **options: Any) -> list[str]:
    """Return all problems of one competition's results, each with its place."""
    chosen = vocboard.load_edition(edition)
    checked = vocboard.validate({competition: content}, chosen, image_sets(chosen), **options)
    return [located(problem) for problem in checked.problems]
