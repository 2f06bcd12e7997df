"""Reads the public part of a test set from a development kit tree without annotations.

Source: VOC2010 document section 9.1.
"""

import io
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from vocboard.evaluator.archives import TREE_LIMITS, ArchiveError, members
from vocboard.evaluator.editions import AnnotationFormat, Edition, Task, TaskRules
from vocboard.evaluator.ground_truth.tree import Tree, prefixes
from vocboard.evaluator.image_sets import ImageSet, ImageSets
from vocboard.evaluator.problems import Problem
from vocboard.evaluator.problems.trees import TreeProblems
from vocboard.evaluator.tasks.definitions import TASKS
from vocboard.evaluator.tasks.image_set_files import ImageSetFiles, Listed, Person, file_of
from vocboard.evaluator.tasks.material import annotation_file

Key = tuple[Task, str]
Size = tuple[int, int]  # width and height in pixels

_HEADER_BYTES = 256 * 1024  # enough of an image to find its size after colour profiles and previews
_IMAGE_FILES = ("JPEGImages/{}.jpg", "PNGImages/{}.png")  # the latter up to VOC2006
_SIZE = re.compile(rb"<size>.*?</size>", re.DOTALL)
_WIDTH = re.compile(rb"<width>\s*(\d{1,6})\s*</width>")
_HEIGHT = re.compile(rb"<height>\s*(\d{1,6})\s*</height>")
_TEXT_SIZE = re.compile(rb"Image size \(X x Y x C\) : (\d{1,6}) x (\d{1,6}) x ")


def read_image_sets(tree: Path, edition: Edition, *, progress: Callable[[int], None] | None = None) -> ImageSets:
    """Read the image sets of an edition's test data.

    Only `ImageSets/` is required. Image sizes come from `SegmentationClass/` (only for segmentation), `Annotations/`,
    `JPEGImages/` or `PNGImages/`, whichever has them for all images of a set; otherwise they are None and not checked.

    Args:
        tree: directory or archive. The folder `VOC<year>/` is at the top, below `VOCdevkit/`, or is the tree itself.
        edition: defines the image sets.
        progress: called with the number of files read.

    Raises:
        GroundTruthError: the tree cannot be read, or its image sets are invalid.
    """
    problems = TreeProblems()
    source = Tree(tree, edition.name, problems, progress)
    keys = {
        (competition.task, competition.image_set): competition.rules for competition in edition.competitions.values()
    }
    lists = [file for key, rules in keys.items() for file in _lists_of_people(key, rules, edition)]
    files = ImageSetFiles(source.read([*dict.fromkeys(file_of(edition, key) for key in keys), *lists]), problems)
    listed = {key: _listed(key, rules, edition, files) for key, rules in keys.items() if file_of(edition, key) in files}
    if not listed:
        expected = ", ".join(dict.fromkeys(file_of(edition, key) for key in keys))
        problems.add("no_image_sets", f"the tree has none of the image sets of {edition.name}: {expected}")
    problems.raise_if_any()
    sizes = _Sizes(tree, source, edition)
    sets = {
        key: ImageSet(found.images, sizes.of(found.images, key[0]), _persons(found.people))
        for key, found in listed.items()
    }
    problems.raise_if_any()
    return ImageSets(edition.name, sets)


def _lists_of_people(key: Key, rules: TaskRules, edition: Edition) -> list[str]:
    """Return the lists, by class, that may name people if the image set only names images."""
    definition = TASKS[key[0]]
    if not (definition.names_people(rules) and definition.has_class_lists):
        return []
    return [file_of(edition, key, name) for name in rules.classes]


def _listed(key: Key, rules: TaskRules, edition: Edition, files: ImageSetFiles) -> Listed:
    file = file_of(edition, key)
    if not TASKS[key[0]].names_people(rules):
        return files.images(file)
    listed, lists = files.people(file), _lists_of_people(key, rules, edition)
    if listed.people is not None or not lists:
        return listed
    people: set[Person] = set()
    for name in lists:
        if name in files:
            people.update(files.person_labels(name, listed.index))
    return Listed(listed.images, dict.fromkeys(sorted(people), 0) if people else None)


def _persons(people: Mapping[Person, int] | None) -> NDArray[np.int32] | None:
    return None if people is None else np.array(list(people), dtype=np.int32).reshape(-1, 2)


class _Sizes:
    """Reads image sizes from any source in the tree."""

    def __init__(self, tree: Path, source: Tree, edition: Edition):
        self._tree, self._source, self._edition = tree, source, edition
        self._known: dict[str, Size] = {}

    def of(self, images: tuple[str, ...], task: Task) -> NDArray[np.int32] | None:
        """Return (n, 2) width and height; None unless known for every image."""
        file = TASKS[task].size_file
        if file is not None:
            sizes = self._of_maps(file, images)
            if len(sizes) == len(images):
                return _array(images, sizes)
        for look in (self._annotated, self._of_images):
            missing = [image for image in images if image not in self._known]
            if missing:
                self._known.update(look(missing))
        return _array(images, self._known) if all(image in self._known for image in images) else None

    def _of_maps(self, file: str, images: Iterable[str]) -> dict[str, Size]:
        contents = self._source.read([file.format(image) for image in images])
        return _measured((Path(name).stem, content) for name, content in contents.items())

    def _annotated(self, images: Iterable[str]) -> dict[str, Size]:
        if self._edition.annotations.format is AnnotationFormat.LINES:
            return {}
        contents = self._source.read([annotation_file(image, self._edition) for image in images])
        found = {Path(name).stem: _annotated_size(content) for name, content in contents.items()}
        return {image: size for image, size in found.items() if size}

    def _of_images(self, images: Collection[str]) -> dict[str, Size]:
        wanted = {
            f"{prefix}{file.format(image)}": image
            for prefix in prefixes(self._edition.name)
            for file in _IMAGE_FILES
            for image in images
        }
        try:
            return _measured((wanted[name], head) for name, head in _heads(self._tree, wanted))
        except ArchiveError:
            return {}


def _heads(tree: Path, wanted: Collection[str]) -> Iterator[tuple[str, bytes]]:
    """Yield the names and first bytes of files; in a directory also of those that links lead to, as everywhere."""
    if not tree.is_dir():
        found = (member for member in members(tree, TREE_LIMITS, _ignore) if member.name in wanted)
        yield from ((member.name, member.read(_HEADER_BYTES)) for member in found)
        return
    for name in wanted:
        path = os.path.join(tree, name)
        if os.path.isfile(path):
            with open(path, "rb", buffering=0) as file:
                yield name, file.read(_HEADER_BYTES)


def _ignore(_: Problem) -> None:
    """Ignore problems of the archive: the tree is only used for image sizes."""


def _measured(heads: Iterable[tuple[str, bytes]]) -> dict[str, Size]:
    """Return sizes of images from their first bytes; unknown ones are left out."""
    sizes = {}
    for name, head in heads:
        try:
            with Image.open(io.BytesIO(head), formats=("JPEG", "PNG")) as image:
                sizes[name] = image.size
        except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
            continue
    return sizes


def _annotated_size(content: bytes) -> Size | None:
    """Return the size in an annotation, for formats with one file per image."""
    element = _SIZE.search(content)
    width, height = (pattern.search(element[0]) if element else None for pattern in (_WIDTH, _HEIGHT))
    if width and height:
        return int(width[1]), int(height[1])
    text = _TEXT_SIZE.search(content)
    return (int(text[1]), int(text[2])) if text else None


def _array(images: Iterable[str], sizes: Mapping[str, Size]) -> NDArray[np.int32]:
    return np.array([sizes[image] for image in images], dtype=np.int32).reshape(-1, 2)
