"""Writes detections in the formats of other tools."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from vocboard.evaluator.conversion.boxes import ConvertedDetection, Four, to_corner_and_size, to_corners
from vocboard.evaluator.conversion.decimals import plain
from vocboard.evaluator.conversion.names import NamesById, file_stem
from vocboard.evaluator.conversion.other_ids import Known, OtherIds, other_ids
from vocboard.evaluator.conversion.problems import ProblemCollector
from vocboard.evaluator.conversion.yolo import yolo_files
from vocboard.evaluator.problems import Problem, Severity
from vocboard.evaluator.whole_output import whole_directory, whole_file

LABELS_FILE = "classes.txt"  # in a directory of YOLO's text files: one class per line, in their order

Sizes = Mapping[str, tuple[int, int]]


def write_detections(
    target_format: str,
    found: Sequence[ConvertedDetection],
    output: Path,
    *,
    classes: tuple[str, ...],
    images: Sequence[str],
    sizes: Sizes | None,
    listed_images: NamesById | None = None,
    listed_categories: NamesById | None = None,
) -> tuple[Problem, ...]:
    """Write detections in a format of `FORMATS`: a directory for YOLO, a JSON file for all others.

    Args:
        target_format: one of `FORMATS`.
        found: the detections.
        output: file or directory to write; not written if there is an error.
        classes: the edition's classes; category numbers follow their order.
        images: the image set. Each image has an entry if the format has entries for images.
        sizes: width and height by image; None if unknown.
        listed_images: image names by id, whose ids are written. Default: the images' numbers, or in formats that have
            entries for images their names.
        listed_categories: category names by id, whose ids are written. Default: the edition's classes in their order.

    Returns:
        Warnings about the ids.

    Raises:
        ConversionError: YOLO needs sizes, and they are unknown; or an image or class has no id.
        OutputExistsError: the directory exists and was not written by this function.
        OSError: the output cannot be written.
    """
    problems = ProblemCollector()
    ids = other_ids(
        images, classes, listed_images, listed_categories,
        first=FIRST_CATEGORY.get(target_format, 1), used={each.label for each in found}, problems=problems,
    )  # fmt: skip
    if target_format not in _BY_NUMBER:  # entries of images, by name unless ids are listed
        names = ids.images if listed_images is not None else {image: Known(image, image) for image in images}
        ids = replace(ids, images=names)
    elif listed_images is None:
        _note_image_numbers(ids, problems)
    if listed_categories is None and target_format != "huggingface":
        problems.add(
            "ids_of_edition", f"category numbers are those of the edition's classes, from {ids.categories[0].id} on",
            "To write others, give --categories FILE.", severity=Severity.WARNING,
        )  # fmt: skip
    if target_format == "yolo":
        _check_yolo(ids, sizes, problems)
    problems.raise_if_errors()
    if target_format == "yolo":
        with whole_directory(output, "yolo") as directory:
            for name, text in yolo_files(found, sizes or {}, ids).items():
                (directory / name).write_text(text)
            labels = "".join(f"{known.name}\n" for known in ids.categories)
            (directory / LABELS_FILE).write_text(labels, encoding="utf-8")
        return problems.problems()
    text = _WRITERS[target_format](found, ids)
    with whole_file(output) as unfinished:
        unfinished.write_text(text)
    return problems.problems()


def _note_image_numbers(ids: OtherIds, problems: ProblemCollector) -> None:
    found = (
        "positions in the image set, since names have no own numbers" if ids.by_position else "digits of their names"
    )
    problems.add(
        "ids_of_images", f"image ids are the {found}", "To write others, give --images FILE.", severity=Severity.WARNING
    )


def _check_yolo(ids: OtherIds, sizes: Sizes | None, problems: ProblemCollector) -> None:
    if sizes is None:
        remedy = "Put Annotations/ or JPEGImages/ into it: pixels become fractions by the size of the image."
        problems.add("unknown_sizes", "the tree does not say how large its images are", remedy)
    if [known.id for known in ids.categories] != list(range(len(ids.categories))):
        remedy = "Give --categories FILE with these numbers, for example the names: of the data set's YAML file."
        problems.add("bad_category_ids", "the categories are not numbered 0, 1, 2, ..., as YOLO's are", remedy)
    for known in ids.images.values():
        if file_stem(f"{known.id}.txt") != str(known.id):
            remedy = "Convert without --images: files are then called like the images."
            problems.add("bad_image_id", "ids of images that are not file names", remedy, value=known.id, noun="image")


def _coco(found: Sequence[ConvertedDetection], ids: OtherIds) -> str:
    known = {
        image: json.dumps(each.id) + (f',"file_name":{json.dumps(each.name)}' if ids.by_position else "")
        for image, each in ids.images.items()
    }
    rows = (
        f'{{"image_id":{known[each.image]},"category_id":{json.dumps(ids.classes[each.label].id)},'
        f'"bbox":{_list(to_corner_and_size(each.box))},"score":{plain(each.confidence)}}}'
        for each in found
    )
    return "[" + ",\n".join(rows) + "]\n"


def _columns(boxes: str) -> Callable[[Sequence[ConvertedDetection], OtherIds], str]:
    def write(found: Sequence[ConvertedDetection], ids: OtherIds) -> str:
        entries = []
        for image, of_image in _by_image(found, ids).items():
            corners = ",".join(_list(to_corners(each.box)) for each in of_image)
            labels = ",".join(json.dumps(ids.classes[each.label].id) for each in of_image)
            scores = ",".join(plain(each.confidence) for each in of_image)
            content = f'{{"{boxes}":[{corners}],"labels":[{labels}],"scores":[{scores}]}}'
            entries.append(f"{json.dumps(image)}:{content}")
        return "{" + ",\n".join(entries) + "}\n"

    return write


def _objects(found: Sequence[ConvertedDetection], ids: OtherIds) -> str:
    entries = []
    for image, of_image in _by_image(found, ids).items():
        rows = ",".join(
            f'{{"score":{plain(each.confidence)},"label":{json.dumps(ids.classes[each.label].name)},'
            f'"box":{_named_corners(each.box)}}}'
            for each in of_image
        )
        entries.append(f"{json.dumps(image)}:[{rows}]")
    return "{" + ",\n".join(entries) + "}\n"


def _by_image(found: Iterable[ConvertedDetection], ids: OtherIds) -> dict[str, list[ConvertedDetection]]:
    """Return the detections of each image by the text of its id."""
    by_image: dict[str, list[ConvertedDetection]] = {image: [] for image in ids.images}
    for each in found:
        by_image[each.image].append(each)
    return {str(ids.images[image].id): of_image for image, of_image in by_image.items()}


def _list(numbers: Four) -> str:
    return "[" + ",".join(map(plain, numbers)) + "]"


def _named_corners(box: Four) -> str:
    sides = zip(("xmin", "ymin", "xmax", "ymax"), map(plain, to_corners(box)), strict=True)
    return "{" + ",".join(f'"{name}":{value}' for name, value in sides) + "}"


_WRITERS: Mapping[str, Callable[[Sequence[ConvertedDetection], OtherIds], str]] = {
    "coco": _coco,
    "detectron2": _coco,
    "ultralytics": _coco,
    "mmdetection": _columns("bboxes"),
    "torchvision": _columns("boxes"),
    "huggingface": _objects,
}
FIRST_CATEGORY = {"yolo": 0, "mmdetection": 0}  # number of the first category that is written; otherwise 1
_BY_NUMBER = frozenset({"coco", "detectron2", "ultralytics"})  # formats that number images
