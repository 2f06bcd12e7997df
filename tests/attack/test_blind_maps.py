"""What somebody makes certain with label maps that fill one image with a class, and leave it out of all others.

If the class's intersection over union is above 0, the image shows the class, whatever the number of decimals: one image
is too large a part of a class's pixels to be rounded to nothing. Each submission tests one image for each class, and
the competitions have the same images. The author knows nothing but the names of the images, unless a test says so. The
results are those of the demo's ground truth as the server would show them, without the server.
"""

import numpy as np
from numpy.typing import NDArray

from vocboard.commands.demo import EDITION
from vocboard.commands.demo.development_kit import VOID, paint
from vocboard.commands.demo.scenes import draw_world
from vocboard.commands.demo.seeding import OPEN_RULES
from vocboard.commands.demo.synthetic import SEED
from vocboard.evaluator import editions
from vocboard.evaluator.editions import Task

LEAKED = 0.05  # of the images that show a class, at most, in a week
EDITION_OF_DEMO = editions.load(EDITION)
LABELS = len(EDITION_OF_DEMO.classes) + 1
COMPETITIONS = sum(one.task is Task.SEGMENTATION for one in EDITION_OF_DEMO.competitions.values())
CHOICES = 300  # of images at random; the mean over them is what such an author can expect


def pixels_of(**images: int) -> NDArray[np.int64]:
    """Return the pixels of each label (columns, background first) in each image (rows), without void."""
    world = draw_world(EDITION_OF_DEMO, seed=SEED, **images)
    maps = (
        np.asarray(paint(scene, scene.objects, EDITION_OF_DEMO, void_border=True)).ravel()
        for scene in world.sets[Task.SEGMENTATION, "test"]
    )
    return np.array([np.bincount(labels[labels != VOID], minlength=LABELS) for labels in maps])


def share_certain(pixels: NDArray[np.int64], submissions: int) -> float:
    """Return the share of the worst class's images that is certain after that many: the mean over choices."""
    shown = pixels[:, 1:]
    # Of one image filled with the class: its pixels of the class, over all of the class and the others in the image.
    overlap = shown / (shown.sum(axis=0) + pixels.sum(axis=1, keepdims=True) - shown)
    is_told = np.round(overlap, OPEN_RULES["decimals"]) > 0
    random = np.random.default_rng(5)
    chosen = (random.permuted(is_told, axis=0)[:submissions] for _ in range(CHOICES))  # others for each class
    images = np.count_nonzero(shown, axis=0)
    return float(np.mean([(found.sum(axis=0) / images).max() for found in chosen]))


def test_a_week_of_the_demos_quota_makes_few_images_certain() -> None:
    assert share_certain(pixels_of(), COMPETITIONS * OPEN_RULES["quota_count"]) <= LEAKED


def test_so_few_maps_make_few_images_certain_if_their_author_knows_which_images_to_fill() -> None:
    images = np.count_nonzero(pixels_of()[:, 1:], axis=0)
    assert COMPETITIONS * OPEN_RULES["quota_count"] <= LEAKED * images.min()


def test_with_four_a_day_a_week_would_reveal_much() -> None:
    """So this test can fail."""
    assert share_certain(pixels_of(), 7 * COMPETITIONS * 4) > 2 * LEAKED
