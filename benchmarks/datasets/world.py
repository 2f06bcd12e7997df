"""A synthetic test set of the size of VOC2010's: images, objects, people.

Sizes: 10,991 images and 25,969 objects of 20 classes, the test set of VOC2012's main tasks; 1,449 segmented images, its
segmentation validation set.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.editions import Edition, load

IMAGES = 10_991
OBJECTS = 25_969
SEGMENTED = 1_449
WIDTH, HEIGHT = 500, 375
DIFFICULT = 0.1  # of the objects
SEED = 2012


@dataclass(frozen=True, eq=False, slots=True)
class World:
    """The truth.

    Attributes:
        edition: whose classes and files it has.
        images: identifiers.
        image: (n,) index of the image of each object, non-decreasing.
        class_index: (n,) index into the edition's classes.
        difficult: (n,) bool.
        box: (n, 4) whole pixels: left, top, right, bottom.
        position: (n,) 1-based index of each object in its image's annotation.
    """

    edition: Edition
    images: tuple[str, ...]
    image: NDArray[np.int64]
    class_index: NDArray[np.int64]
    difficult: NDArray[np.bool_]
    box: NDArray[np.int64]
    position: NDArray[np.int64]

    @property
    def persons(self) -> NDArray[np.int64]:
        """Indices of the objects that are people."""
        return np.flatnonzero(self.class_index == self.edition.classes.index("person"))


def make_world(images: int = IMAGES, objects: int = OBJECTS, *, edition_name: str = "VOC2012") -> World:
    """Return a test set of so many images and objects."""
    edition = load(edition_name)
    random = np.random.default_rng(SEED)
    image = np.sort(
        np.concatenate([np.arange(min(images, objects)), random.integers(0, images, max(0, objects - images))])
    )
    # Classes are as uneven as in real photographs: people are a third of all.
    share = 1 / np.arange(1, len(edition.classes) + 1)
    share[edition.classes.index("person")] = 2.0
    class_index = random.choice(len(edition.classes), objects, p=share / share.sum())
    left, top = random.integers(1, WIDTH - 60, objects), random.integers(1, HEIGHT - 60, objects)
    right = np.minimum(WIDTH, left + random.integers(20, 300, objects))
    bottom = np.minimum(HEIGHT, top + random.integers(20, 250, objects))
    starts = np.searchsorted(image, image, side="left")
    return World(
        edition=edition,
        images=tuple(f"{'' if edition_name == 'VOC2007' else '2008_'}{number:06}" for number in range(1, images + 1)),
        image=image,
        class_index=class_index,
        difficult=random.random(objects) < DIFFICULT,
        box=np.stack([left, top, right, bottom], axis=1),
        position=np.arange(objects) - starts + 1,
    )
