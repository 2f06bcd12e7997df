"""Uploads that are meant to be decoded, for the synthetic test set of the demo.

What is right is used to make realistic results, and afterwards to check what was decoded; decoding does not use it.
"""

import io
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from tests.attack.detections import Counts
from tests.attack.labels import Labels
from tests.support.small_world import packed
from vocboard.commands.demo.scenes import Scene, World
from vocboard.evaluator.editions import Task

IMAGE_SET = "test"
LABELS = 20  # classes of VOC2012, each the label of one image


@dataclass
class Upload:
    """Result files of VOC2012, and how they rank all items.

    Attributes:
        orders: items by rank, by competition and class; those that a file leaves out rank last in their own order.
    """

    files: dict[str, bytes] = field(default_factory=dict)
    orders: dict[tuple[str, str], NDArray[np.intp]] = field(default_factory=dict)

    def rank(self, competition: str, file: str, class_name: str, names: Sequence[str], order: NDArray[np.intp]) -> None:
        """Enter the items of `order`, the best first."""
        lines = (f"{names[item]} {1 - rank / 10_000:.6f}\n" for rank, item in enumerate(order))
        self.files[file.format(competition=competition, name=class_name)] = "".join(lines).encode()
        rest = np.setdiff1d(np.arange(len(names)), order)
        self.orders[competition, class_name] = np.concatenate([order, rest])

    def archive(self) -> bytes:
        """Return it as a participant uploads it."""
        return packed((f"results/VOC2012/{name}", content) for name, content in self.files.items())


def image_labels(world: World, class_name: str) -> Labels:
    """Labels of the images of classification."""

    def label(scene: Scene) -> int:
        difficult = [thing.difficult for thing in scene.objects if thing.class_name == class_name]
        return -1 if not difficult else int(not all(difficult))

    return np.array([label(scene) for scene in world.sets[Task.CLASSIFICATION, IMAGE_SET]], dtype=np.int8)


def person_labels(world: World, action: str) -> Labels:
    """Labels of the people of action."""
    people = [person for scene in world.sets[Task.ACTION, IMAGE_SET] for person in scene.objects]
    return np.array([1 if action in person.actions else -1 for person in people], dtype=np.int8)


def images(world: World) -> list[str]:
    """Names of the images of classification, as in a result file."""
    return [scene.image for scene in world.sets[Task.CLASSIFICATION, IMAGE_SET]]


def people(world: World) -> list[str]:
    """Names of the people of action, as in a result file."""
    scenes = world.sets[Task.ACTION, IMAGE_SET]
    return [f"{scene.image} {index}" for scene in scenes for index in range(1, len(scene.objects) + 1)]


def good_order(labels: Labels, random: np.random.Generator) -> NDArray[np.intp]:
    """Items as a classifier with an average precision of about 0.8 ranks them."""
    return np.argsort(-random.normal(2.0 * (labels == 1), 1.0))


def label_of_its_own(world: World) -> dict[str, bytes]:
    """Give each of the first twenty segmented images a label of its own, and the others background."""
    files = {}
    for number, scene in enumerate(world.sets[Task.SEGMENTATION, IMAGE_SET], start=1):
        label = number if number <= LABELS else 0
        buffer = io.BytesIO()
        Image.new("L", (scene.width, scene.height), label).save(buffer, "PNG")
        files[f"Segmentation/comp5_test_cls/{scene.image}.png"] = buffer.getvalue()
    return files


def exact_boxes(world: World, class_name: str, number: int) -> bytes:
    """Detections that are all right: boxes of the truth, as if somebody knew them."""
    found = [
        (scene.image, thing.box)
        for scene in world.sets[Task.DETECTION, IMAGE_SET]
        for thing in scene.objects
        if thing.class_name == class_name and not thing.difficult
    ]
    lines = (f"{image} {1 - n / 1000:.4f} {' '.join(map(str, box))}\n" for n, (image, box) in enumerate(found[:number]))
    return "".join(lines).encode()


def objects_of(world: World, class_name: str) -> Counts:
    """How many objects of a class there are to detect."""
    scenes = world.sets[Task.DETECTION, IMAGE_SET]
    difficult = [thing.difficult for scene in scenes for thing in scene.objects if thing.class_name == class_name]
    return Counts(positives=difficult.count(False), objects=len(difficult))
