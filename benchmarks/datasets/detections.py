"""Synthetic detections: some boxes near each object, the rest anywhere, with matching confidences."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets.world import HEIGHT, SEED, WIDTH, World

DETECTIONS = 1_022_130
NEAR = 0.2  # of the detections


@dataclass(frozen=True, eq=False, slots=True)
class Detections:
    """Detections of one class: (n,) image, (n,) confidence, (n, 4) box, in the order of the file."""

    image: NDArray[np.int64]
    confidence: NDArray[np.float64]
    box: NDArray[np.float64]


def make_detections(world: World, number: int = DETECTIONS) -> Iterator[tuple[str, Detections]]:
    """Yield the detections of each class, `number` over all classes."""
    classes = world.edition.classes
    share = np.full(len(classes), number // len(classes))
    share[: number % len(classes)] += 1
    for index, (name, count) in enumerate(zip(classes, share.tolist(), strict=True)):
        yield name, _of_class(world, index, count)


def _of_class(world: World, index: int, count: int) -> Detections:
    random = np.random.default_rng((SEED, index))
    objects = np.flatnonzero(world.class_index == index)
    near = int(NEAR * count) if len(objects) else 0
    chosen = objects[random.integers(0, max(1, len(objects)), near)]
    close = world.box[chosen] + random.normal(0, 12, (near, 4))
    corner = random.random((count - near, 2)) * (WIDTH - 40, HEIGHT - 40)
    anywhere = np.concatenate([corner, corner + 5 + random.random((count - near, 2)) * 200], axis=1)
    box = np.concatenate([close, anywhere])
    image = np.concatenate([world.image[chosen], random.integers(0, len(world.images), count - near)])
    confidence = np.concatenate([random.beta(4, 3, near), random.beta(1, 6, count - near)])
    order = np.argsort(image, kind="stable")
    return Detections(image[order], confidence[order], box[order])


def detection_lines(world: World, made: Detections) -> str:
    """Return the detections as a result file of 66 bytes a line."""
    rows = zip(
        [world.images[image] for image in made.image.tolist()],
        made.confidence.tolist(),
        *made.box.T.tolist(),
        strict=True,
    )
    return "".join(
        f"{image} {score:.8f} {left:.6f} {top:.6f} {right:.6f} {bottom:.6f}\n"
        for image, score, left, top, right, bottom in rows
    )
