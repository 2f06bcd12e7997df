"""Input of the examples: images, annotations and image sets of a tree."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.annotations.records import ImageRecord
from vocboard.evaluator.archives import TREE_LIMITS, members
from vocboard.evaluator.editions import Edition, Task, for_image_set
from vocboard.evaluator.examples.features import CellGrid
from vocboard.evaluator.ground_truth import GroundTruth
from vocboard.evaluator.ground_truth.reader import read_ground_truth
from vocboard.evaluator.ground_truth.tree import folder_of, path_in_folder
from vocboard.evaluator.image_sets import ImageSet, ImageSets
from vocboard.evaluator.problems.trees import some
from vocboard.evaluator.public_tree import read_image_sets
from vocboard.evaluator.viewing.scenes import read_scenes

_FOLDERS = (("JPEGImages", ".jpg"), ("PNGImages", ".png"))


class ExampleError(Exception):
    """An example cannot be run; the message says why."""


@dataclass(frozen=True, eq=False, slots=True)
class Material:
    """A tree with a training set and a test set.

    Attributes:
        train: ground truth of the training set.
        test: public part of the test set: images, people, and the boxes of people.
        edition: the edition for the test set.
        train_edition: the edition for the training set.
        progress: called with the number of images read.
    """

    tree: Path
    task: Task
    train: GroundTruth
    test: ImageSets
    edition: Edition
    train_edition: Edition
    progress: Callable[[int], None] | None = None

    @property
    def train_set(self) -> ImageSet:
        """The training images."""
        return _set_of(self.train.image_sets, self.task)

    @property
    def test_set(self) -> ImageSet:
        """The test images."""
        return _set_of(self.test, self.task)

    def grids(self, images: Sequence[str]) -> Iterator[tuple[int, CellGrid]]:
        """Yield the index of each image among those given, and its cells, in the order of the tree.

        Raises:
            ExampleError: images are missing or damaged.
        """
        for place, content in self.pictures(images):
            try:
                yield place, CellGrid.of(content)
            except (OSError, SyntaxError) as error:
                raise ExampleError(f"the picture of image {images[place]} cannot be read: {error}") from error

    def pictures(self, images: Sequence[str]) -> Iterator[tuple[int, bytes]]:
        """Yield the index of each image among those given, and its file, in the order of the tree.

        Raises:
            ExampleError: images are missing.
        """
        place = {image: number for number, image in enumerate(images)}
        found: set[str] = set()
        for name, content in _pictures(self.tree, self.edition, place):
            found.add(name)
            yield place[name], content
            if self.progress is not None:
                self.progress(1)
        if len(found) < len(place):
            missing = [image for image in images if image not in found]
            raise ExampleError(
                f"{len(missing):,} of {len(place):,} images are not in JPEGImages/ or PNGImages/ of the tree: "
                f"{some(missing)}. The examples learn from images: add those of the data set."
            )

    def records(self, edition: Edition, sets: ImageSets) -> dict[str, ImageRecord]:
        """Return the annotations of an image set's images."""
        return dict(read_scenes(self.tree, edition, sets).records)


def read_material(
    tree: Path,
    edition: Edition,
    task: Task,
    *,
    train: str,
    test: str,
    progress: Callable[[int], None] | None = None,
) -> Material:
    """Read the training set and the test set of a task.

    Raises:
        GroundTruthError: the tree is invalid, or does not have one of them.
        ExampleError: the edition does not have the task, or the training set has no ground truth for it.
        OSError: the tree cannot be read.
    """
    of_task = {key: each for key, each in edition.competitions.items() if each.task is task}
    if not of_task:
        tasks = ", ".join(dict.fromkeys(each.task.value for each in edition.competitions.values()))
        raise ExampleError(f"{edition.name} has no {task.value}; it has {tasks}")
    train_edition, test_edition = for_image_set(edition, train), for_image_set(edition, test)
    truth = read_ground_truth(tree, train_edition)
    if (task, train) not in truth.truths:
        reason = truth.missing.get((task, train), "it is not there")
        raise ExampleError(f"there is nothing to learn {task.value} from in {train}: {reason}")
    material = Material(tree, task, truth, read_image_sets(tree, test_edition), test_edition, train_edition, progress)
    _set_of(material.test, task)
    return material


def record_boxes(record: ImageRecord | None, indices: Sequence[int]) -> NDArray[np.float64]:
    """Return (n, 4) boxes, in VOC's coordinates, of the objects with these 1-based indices.

    Raises:
        ExampleError: the image has no annotation, or no object with an index.
    """
    if record is None or max(indices, default=0) > len(record.objects):
        raise ExampleError("the annotations lack people whom the image set names")
    return np.array([[float(side) for side in record.objects[index - 1].box] for index in indices]).reshape(-1, 4)


def _set_of(sets: ImageSets, task: Task) -> ImageSet:
    found = next((each for (of, _), each in sets.sets.items() if of is task), None)
    if found is None:
        raise ExampleError(f"the tree has no image set for {task.value}")
    return found


def _pictures(tree: Path, edition: Edition, wanted: dict[str, int]) -> Iterator[tuple[str, bytes]]:
    if tree.is_dir():
        top = folder_of(tree, edition.name)
        for image in wanted:
            path = next((p for f, s in _FOLDERS if (p := top / f / f"{image}{s}").is_file()), None)
            if path is not None:
                yield image, path.read_bytes()
        return
    for member in members(tree, TREE_LIMITS, lambda _: None):
        folder, _, file = path_in_folder(member.name, edition.name).rpartition("/")
        stem, dot, kind = file.rpartition(".")
        if stem in wanted and (folder, dot + kind) in _FOLDERS:
            yield stem, member.read()
