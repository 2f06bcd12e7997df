"""Writes detections in the formats of other tools."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from vocboard.evaluator.conversion.boxes import ConvertedDetection, Four, to_corner_and_size, to_corners
from vocboard.evaluator.conversion.decimals import plain
from vocboard.evaluator.conversion.names import ImageNames
from vocboard.evaluator.conversion.problems import ProblemCollector
from vocboard.evaluator.conversion.yolo import yolo_files
from vocboard.evaluator.whole_output import whole_directory, whole_file

LABELS_MARKER = "classes.txt"  # in a directory of YOLO's text files: one class per line, in their order

Sizes = Mapping[str, tuple[int, int]]


def write_detections(
    target_format: str,
    found: Sequence[ConvertedDetection],
    output: Path,
    *,
    classes: tuple[str, ...],
    images: Sequence[str],
    sizes: Sizes | None,
) -> None:
    """Write detections in a format of `FORMATS`: a directory for YOLO, a JSON file for all others.

    Args:
        target_format: one of `FORMATS`.
        found: the detections.
        output: file or directory to write; not written if there is an error.
        classes: the edition's classes; category numbers follow their order.
        images: the image set. Each image has an entry if the format has entries for images.
        sizes: width and height by image; None if unknown.

    Raises:
        ConversionError: YOLO needs sizes, and they are unknown.
        OutputExistsError: the directory exists and was not written by this function.
        OSError: the output cannot be written.
    """
    if target_format == "yolo":
        if sizes is None:
            problems = ProblemCollector()
            remedy = "Put Annotations/ or JPEGImages/ into it: pixels become fractions by the size of the image."
            problems.add("unknown_sizes", "the tree does not say how large its images are", remedy)
            problems.raise_if_errors()
        with whole_directory(output, LABELS_MARKER) as directory:
            for name, text in yolo_files(found, sizes or {}, classes).items():
                (directory / name).write_text(text)
            (directory / LABELS_MARKER).write_text("".join(f"{name}\n" for name in classes))
        return
    text = _WRITERS[target_format](found, classes, images)
    with whole_file(output) as unfinished:
        unfinished.write_text(text)


def _coco(found: Sequence[ConvertedDetection], classes: tuple[str, ...], images: Sequence[str]) -> str:
    names = ImageNames(images)
    number = {name: place for place, name in enumerate(classes, start=1)}
    known = {image: json.dumps(names.number(image)) for image in images}
    rows = (
        f'{{"image_id":{known[each.image]},"category_id":{number[each.label]},'
        f'"bbox":{_list(to_corner_and_size(each.box))},"score":{plain(each.confidence)}}}'
        for each in found
    )
    return "[" + ",\n".join(rows) + "]\n"


def _columns(boxes: str, first: int) -> Callable[[Sequence[ConvertedDetection], tuple[str, ...], Sequence[str]], str]:
    def write(found: Sequence[ConvertedDetection], classes: tuple[str, ...], images: Sequence[str]) -> str:
        number = {name: place for place, name in enumerate(classes, start=first)}
        entries = []
        for image, of_image in _by_image(found, images).items():
            corners = ",".join(_list(to_corners(each.box)) for each in of_image)
            labels = ",".join(str(number[each.label]) for each in of_image)
            scores = ",".join(plain(each.confidence) for each in of_image)
            content = f'{{"{boxes}":[{corners}],"labels":[{labels}],"scores":[{scores}]}}'
            entries.append(f"{json.dumps(image)}:{content}")
        return "{" + ",\n".join(entries) + "}\n"

    return write


def _objects(found: Sequence[ConvertedDetection], _: tuple[str, ...], images: Sequence[str]) -> str:
    entries = []
    for image, of_image in _by_image(found, images).items():
        rows = ",".join(
            f'{{"score":{plain(each.confidence)},"label":{json.dumps(each.label)},"box":{_named_corners(each.box)}}}'
            for each in of_image
        )
        entries.append(f"{json.dumps(image)}:[{rows}]")
    return "{" + ",\n".join(entries) + "}\n"


def _by_image(found: Iterable[ConvertedDetection], images: Sequence[str]) -> dict[str, list[ConvertedDetection]]:
    by_image: dict[str, list[ConvertedDetection]] = {image: [] for image in images}
    for each in found:
        by_image[each.image].append(each)
    return by_image


def _list(numbers: Four) -> str:
    return "[" + ",".join(map(plain, numbers)) + "]"


def _named_corners(box: Four) -> str:
    sides = zip(("xmin", "ymin", "xmax", "ymax"), map(plain, to_corners(box)), strict=True)
    return "{" + ",".join(f'"{name}":{value}' for name, value in sides) + "}"


_WRITERS: Mapping[str, Callable[[Sequence[ConvertedDetection], tuple[str, ...], Sequence[str]], str]] = {
    "coco": _coco,
    "detectron2": _coco,
    "ultralytics": _coco,
    "mmdetection": _columns("bboxes", 0),
    "torchvision": _columns("boxes", 1),
    "huggingface": _objects,
}
