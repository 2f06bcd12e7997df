"""The content of a tree, from which tasks read their ground truth."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.annotations import AnnotatedObject, Annotation, Box
from vocboard.evaluator.problems.problem import counted
from vocboard.evaluator.problems.trees import TreeProblems, some
from vocboard.evaluator.rules import AnnotationFormat, Edition
from vocboard.evaluator.tasks.image_set_files import ImageSetFiles, Listed, Person

PERSON = "person"  # the class whose objects have parts and actions


def annotation_file(image: str, edition: Edition) -> str:
    """Return the name of an image's annotation in the tree."""
    return f"Annotations/{image}.{'xml' if edition.annotations.format is AnnotationFormat.XML else 'txt'}"


@dataclass(frozen=True, eq=False, slots=True)
class Material:
    """The content of a tree's files.

    Attributes:
        files: the image sets.
        annotations: existing annotations, by image identifier.
        broken: images with an invalid annotation, which is already reported.
        image_files: other existing files of images that tasks requested, by their name in the tree.
        problems: collects problems.
    """

    edition: Edition
    files: ImageSetFiles
    annotations: Mapping[str, Annotation]
    broken: Collection[str]
    image_files: Mapping[str, bytes]
    problems: TreeProblems

    def objects(self, image: str) -> tuple[AnnotatedObject, ...]:
        """Return the objects of an image; empty if it has no annotation."""
        return self.annotations[image].objects if image in self.annotations else ()

    def sizes(self, images: Sequence[str]) -> NDArray[np.int32] | None:
        """Return (n, 2) widths and heights; None unless every image's annotation has them."""
        sizes = [self.annotations[image].size if image in self.annotations else None for image in images]
        return None if None in sizes else np.array(sizes, dtype=np.int32).reshape(-1, 2)

    def lacks_annotations(self, listed: Listed) -> str | None:
        """Return why a task that needs annotations cannot be scored, or None; report it if only some are there."""
        if not listed.images:
            return "its image set is empty"
        without = [image for image in listed.images if image not in self.annotations and image not in self.broken]
        if len(without) == len(listed.images):
            return "its images have no Annotations"
        if without and self.problems.tolerant:
            message = f"{counted(len(without), 'image')} of {len(listed.images):,} without annotation: {some(without)}"
            counts = "It counts as an image" if len(without) == 1 else "They count as images"
            self.problems.warn("missing_annotation", f"{message}. {counts} without objects.", listed.file)
            return None
        for image in without:
            message = "is not there, although other test images have theirs"
            self.problems.add("missing_annotation", message, annotation_file(image, self.edition))
        return None

    def check_people(self, listed: Listed, people: Mapping[Person, int], file: str) -> None:
        """Report people listed (with their lines, 0 where unknown) whose annotation has no such person."""
        for (image, index), line in people.items():
            name = listed.images[image]
            if name not in self.annotations:
                continue
            objects = self.objects(name)
            if index > len(objects):
                wrong = f"image {name} has {counted(len(objects), 'object')}, none with index {index}"
            elif objects[index - 1].name != PERSON:
                wrong = f"object {index} of image {name} is a {objects[index - 1].name}, expected a {PERSON}"
            else:
                continue
            self.problems.add("no_such_person", wrong, file, line or None)


def people_array(people: Mapping[Person, object] | Sequence[Person]) -> NDArray[np.int32]:
    """Return (n, 2) columns of image index and object index, also for n = 0."""
    return np.array(list(people), dtype=np.int32).reshape(-1, 2)


def box_array(boxes: Sequence[Box]) -> NDArray[np.float64]:
    """Return (n, 4) columns of left, top, right and bottom, also for n = 0."""
    return np.array(boxes, dtype=np.float64).reshape(-1, 4)
