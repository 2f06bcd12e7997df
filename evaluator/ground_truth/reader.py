"""Reads ground truth from a development kit tree.

Source: VOC2010 document sections 2.5-2.8 and 9.1.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vocboard.evaluator.annotations import Annotation, AnnotationError, read_lines, read_pascal_text, read_xml
from vocboard.evaluator.editions import AnnotationFormat, Edition, Task, TaskRules
from vocboard.evaluator.garbage import collection_paused
from vocboard.evaluator.ground_truth.ground_truth import GroundTruth
from vocboard.evaluator.ground_truth.oddities import (
    count_truncated,
    warn_of_annotations,
    warn_of_classes_without_positives,
    warn_of_other_classes_in_masks,
)
from vocboard.evaluator.ground_truth.tree import Tree
from vocboard.evaluator.image_sets import ImageSet, ImageSets, Key
from vocboard.evaluator.problems import Problem
from vocboard.evaluator.problems.trees import TreeProblems
from vocboard.evaluator.tasks.definitions import TASKS
from vocboard.evaluator.tasks.image_set_files import ImageSetFiles, Listed, file_of
from vocboard.evaluator.tasks.material import Material, annotation_file
from vocboard.evaluator.tasks.parts import task_parts
from vocboard.evaluator.tasks.truth import Truth
from vocboard.evaluator.tasks.truth_reader import TruthReader

TRUTH_READERS: Mapping[Task, TruthReader[Any]] = task_parts("ground_truth", TruthReader)


@dataclass(frozen=True, eq=False, slots=True)
class ReadTree:
    """Result of importing a tree.

    Attributes:
        warnings: what looks wrong and may be intentional; see `oddities`.
        truncated: objects that are not difficult and cut off, by image set and class.
    """

    truth: GroundTruth
    warnings: tuple[Problem, ...]
    truncated: Mapping[str, Mapping[str, int]]


def read_ground_truth(tree: Path, edition: Edition, *, progress: Callable[[int], None] | None = None) -> GroundTruth:
    """Read an edition's ground truth from a development kit tree.

    Tasks whose image set or ground truth is missing are skipped, and `GroundTruth.missing` says why. Partial ground
    truth is an error.

    Args:
        tree: directory or archive (tar, plain or compressed, or zip) with the folder `VOC<year>/` at the top, below
            `VOCdevkit/`, or being that folder.
        edition: defines the tasks and classes.
        progress: called with the number of files read, and with 0 as they are parsed.

    Raises:
        GroundTruthError: the tree is invalid; lists all problems.
    """
    return _read(tree, edition, TreeProblems(), progress)[0]


def import_ground_truth(tree: Path, edition: Edition, *, progress: Callable[[int], None] | None = None) -> ReadTree:
    """Read the same, and look for what may be mistakes in the tree.

    Images without annotation are a warning, not an error: they count as images without objects.

    Raises:
        GroundTruthError: with everything that is wrong with the tree, warnings included.
    """
    problems = TreeProblems(tolerant=True)
    truth, listed, material = _read(tree, edition, problems, progress)
    warn_of_classes_without_positives(truth, edition, problems)
    warn_of_other_classes_in_masks(listed, truth, material)
    sets: dict[str, dict[str, None]] = {}
    for key, items in listed.items():
        sets.setdefault(key[1], {}).update(dict.fromkeys(items.images))
    truncated = {name: count_truncated(images, material) for name, images in sets.items()}
    return ReadTree(truth, problems.warnings, truncated)


def _read(
    tree: Path, edition: Edition, problems: TreeProblems, progress: Callable[[int], None] | None
) -> tuple[GroundTruth, Mapping[Key, Listed], Material]:
    source = Tree(tree, edition.name, problems, progress)
    rules = {(c.task, c.image_set): c.rules for c in edition.competitions.values()}
    files = ImageSetFiles(source.read(_image_set_files(rules, edition)), problems)
    listed = {key: _listed(key, rules[key], edition, files) for key in rules if file_of(edition, key) in files}
    if not listed:
        expected = ", ".join(dict.fromkeys(file_of(edition, key) for key in rules))
        message = f"the tree has none of the image sets of {edition.name} ({expected}) {source.places}"
        problems.add("no_image_sets", f"{message}; found: {source.found}")
        problems.raise_if_any()

    material = _material(source, listed, edition, files, problems, progress=progress)
    sets: dict[Key, ImageSet] = {}
    truths: dict[Key, Truth] = {}
    missing = {key: f"there is no {file_of(edition, key)}" for key in rules if key not in listed}
    for key, items in listed.items():
        if progress is not None:
            progress(0)
        sets[key], truth = TRUTH_READERS[key[0]].read(key, items, rules[key], material)
        if isinstance(truth, str):
            missing[key] = truth
        else:
            truths[key] = truth
    if problems.tolerant:
        warn_of_annotations(material)
    problems.raise_if_any()
    return GroundTruth.of(ImageSets(edition.name, sets), truths, missing), listed, material


def _image_set_files(rules: Mapping[Key, TaskRules], edition: Edition) -> list[str]:
    with_labels = [key for key in rules if TASKS[key[0]].has_class_lists]
    per_class = [file_of(edition, key, name) for key in with_labels for name in rules[key].classes]
    return list(dict.fromkeys([*(file_of(edition, key) for key in rules), *per_class]))


def _listed(key: Key, rules: TaskRules, edition: Edition, files: ImageSetFiles) -> Listed:
    file = file_of(edition, key)
    return files.people(file) if TASKS[key[0]].names_people(rules) else files.images(file)


def _material(
    source: Tree,
    listed: Mapping[Key, Listed],
    edition: Edition,
    files: ImageSetFiles,
    problems: TreeProblems,
    *,
    progress: Callable[[int], None] | None,
) -> Material:
    """Read the files of the listed images in one pass."""
    annotated: dict[str, dict[str, None]] = {}
    files_of_images: dict[str, None] = {}
    for key, items in listed.items():
        reader = TRUTH_READERS[key[0]]
        if reader.needs_annotations:
            annotated.setdefault(key[1], {}).update(dict.fromkeys(items.images))
        files_of_images |= dict.fromkeys(file.format(image) for file in reader.image_files for image in items.images)
    wanted = _annotation_files(annotated, edition)
    contents = source.read([*wanted, *files_of_images])
    annotations: dict[str, Annotation] = {}
    broken: dict[str, None] = {}
    with collection_paused():  # annotations refer to each other in no circle; looking for one takes a twentieth
        for file, images in wanted.items():
            if file not in contents:
                continue
            if progress is not None:
                progress(0)
            try:
                annotations |= _read_annotations(contents[file], images, edition)
            except AnnotationError as error:
                broken |= dict.fromkeys(images)
                for line, message in error.errors:
                    problems.add("bad_annotation", message, file, line)
    image_files = {file: contents[file] for file in files_of_images if file in contents}
    return Material(edition, files, annotations, broken, image_files, problems)


def _annotation_files(annotated: Mapping[str, Collection[str]], edition: Edition) -> dict[str, Collection[str]]:
    """Return the images of each annotation file of the tree.

    Args:
        annotated: images by image set.
        edition: defines the file names.
    """
    if edition.annotations.format is AnnotationFormat.LINES:
        return {f"Annotations/{image_set}.txt": images for image_set, images in annotated.items()}
    return {annotation_file(image, edition): (image,) for images in annotated.values() for image in images}


def _read_annotations(content: bytes, images: Collection[str], edition: Edition) -> Mapping[str, Annotation]:
    """Read the annotations of these images, by image."""
    match edition.annotations.format:
        case AnnotationFormat.XML:
            return {image: read_xml(content) for image in images}
        case AnnotationFormat.PASCAL_TEXT:
            return {image: read_pascal_text(content, edition.annotations.labels) for image in images}
        case AnnotationFormat.LINES:
            return read_lines(content, images, edition.classes)
