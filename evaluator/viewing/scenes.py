"""Reads what the page shows of a tree: images, their sizes, and the content of their annotations."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from vocboard.evaluator.annotations import AnnotatedObject, Annotation, AnnotationError, read_lines, read_pascal_text
from vocboard.evaluator.annotations.records import ImageRecord, ObjectRecord, PartRecord, read_record
from vocboard.evaluator.editions import AnnotationFormat, Edition, Task
from vocboard.evaluator.ground_truth.tree import Tree
from vocboard.evaluator.image_sets import ImageSets
from vocboard.evaluator.problems.trees import TreeProblems
from vocboard.evaluator.tasks.definitions import TASKS
from vocboard.evaluator.tasks.material import annotation_file

_SIZE_UNKNOWN = (500, 500)  # pixels; used if neither annotation nor image has the size


@dataclass(frozen=True, slots=True)
class Scenes:
    """The images of all tasks' image sets: first those of detection, in their order, then the others.

    Attributes:
        sizes: width and height in pixels, by image, if known.
        records: annotations that exist, by image.
        folders: folders of image sets (`Main`, `Layout` ...) by image.
    """

    images: tuple[str, ...]
    sizes: Mapping[str, tuple[int, int]]
    records: Mapping[str, ImageRecord]
    folders: Mapping[str, tuple[str, ...]]

    def size(self, image: str) -> tuple[int, int]:
        """Return width and height in pixels, or those of a blank image if they are unknown."""
        return self.sizes.get(image, _SIZE_UNKNOWN)


def read_scenes(
    tree: Path, edition: Edition, image_sets: ImageSets, progress: Callable[[int], None] | None = None
) -> Scenes:
    """Read the annotations of every image of an edition's image sets.

    Raises:
        GroundTruthError: the tree cannot be read, or annotations are invalid; lists all problems.
        OSError: the tree cannot be read.
    """
    folders: dict[str, list[str]] = {}
    sizes: dict[str, tuple[int, int]] = {}
    order = sorted(image_sets.sets.items(), key=lambda item: item[0][0] is not Task.DETECTION)
    for (task, _), image_set in order:
        for image in image_set.images:
            of_image = folders.setdefault(image, [])
            if TASKS[task].folder not in of_image:
                of_image.append(TASKS[task].folder)
        sizes |= image_set.sizes_by_image() or {}
    records = _records(tree, edition, image_sets, tuple(folders), progress)
    sizes |= {image: record.size for image, record in records.items() if record.size}
    return Scenes(tuple(folders), sizes, records, {image: tuple(names) for image, names in folders.items()})


def _records(
    tree: Path,
    edition: Edition,
    image_sets: ImageSets,
    images: tuple[str, ...],
    progress: Callable[[int], None] | None,
) -> dict[str, ImageRecord]:
    problems = TreeProblems()
    source = Tree(tree, edition.name, problems)
    if edition.annotations.format is AnnotationFormat.LINES:
        own: dict[str, dict[str, None]] = {}  # the images that each file is about
        for (_, name), image_set in image_sets.sets.items():
            own.setdefault(f"Annotations/{name}.txt", {}).update(dict.fromkeys(image_set.images))
        return {
            image: _record(annotation)
            for file, content in source.read(list(own)).items()
            for image, annotation in read_lines(content, own[file], edition.classes).items()
        }
    contents = source.read([annotation_file(image, edition) for image in images])
    problems.raise_if_any()
    records = {}
    for image in images:
        file = annotation_file(image, edition)
        if file in contents:
            try:
                records[image] = _read(contents[file], edition)
            except AnnotationError as error:
                for line, message in error.errors:
                    problems.add("bad_annotation", message, file, line)
        if progress is not None:
            progress(1)
    problems.raise_if_any()
    return records


def _read(content: bytes, edition: Edition) -> ImageRecord:
    if edition.annotations.format is AnnotationFormat.XML:
        return read_record(content)
    return _record(read_pascal_text(content, edition.annotations.labels))


def _record(annotation: Annotation) -> ImageRecord:
    return ImageRecord(annotation.size, tuple(map(_object, annotation.objects)))


def _object(each: AnnotatedObject) -> ObjectRecord:
    parts = tuple(PartRecord(part.name, _texts(part.box)) for part in each.parts)
    flags = {"truncated": bool(each.truncated), "difficult": each.difficult}
    return ObjectRecord(each.name, _texts(each.box), each.view, flags, parts, dict(each.actions or {}))


def _texts(box: tuple[float, float, float, float]) -> tuple[str, str, str, str]:
    left, top, right, bottom = (f"{side:g}" for side in box)
    return left, top, right, bottom
