"""Ground truth taken apart into named arrays, put together again, and its digest."""

import hashlib
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.editions import Task
from evaluator.ground_truth.model import (
    DetectionTruth,
    Key,
    Labels,
    LabelTruth,
    LayoutTruth,
    SegmentationTruth,
    Truth,
)
from evaluator.image_sets import ImageSet, ImageSets

Arrays = Mapping[str, NDArray[Any]]

COLUMNS: Mapping[Task, type[DetectionTruth | LayoutTruth | SegmentationTruth]] = {
    Task.DETECTION: DetectionTruth,
    Task.LAYOUT: LayoutTruth,
    Task.SEGMENTATION: SegmentationTruth,
}


def of_image_set(image_set: ImageSet) -> dict[str, NDArray[Any]]:
    """Return the arrays of the public half of one task; an unknown one is absent."""
    arrays = {"images": as_bytes("\n".join(image_set.images)), "sizes": image_set.sizes, "persons": image_set.persons}
    return {name: array for name, array in arrays.items() if array is not None}


def to_image_set(arrays: Arrays) -> ImageSet:
    """Return what `of_image_set` took apart."""
    images = as_text(arrays["images"])
    return ImageSet(tuple(images.split("\n")) if images else (), arrays.get("sizes"), arrays.get("persons"))


def of_truth(truth: Truth) -> dict[str, NDArray[Any]]:
    """Return the arrays of one task's truth; labels of all classes are one after the other."""
    if isinstance(truth, LabelTruth):
        labels = list(truth.labels.values())
        return {
            "classes": as_bytes("\n".join(truth.labels)),
            "count": np.array([len(each.item) for each in labels], dtype=np.int64),
            "item": np.concatenate([each.item for each in labels]),
            "label": np.concatenate([each.label for each in labels]),
        }
    return {field.name: getattr(truth, field.name) for field in fields(truth)}


def to_truth(task: Task, arrays: Arrays) -> Truth:
    """Return what `of_truth` took apart."""
    if task is Task.SEGMENTATION and "data" in arrays:
        return SegmentationTruth.of(_inflated(arrays))
    if task in COLUMNS:
        truth = COLUMNS[task]
        return truth(**{field.name: arrays[field.name] for field in fields(truth)})
    ends = np.cumsum(arrays["count"])[:-1]
    columns = zip(np.split(arrays["item"], ends), np.split(arrays["label"], ends), strict=True)
    classes = as_text(arrays["classes"]).split("\n")
    return LabelTruth({name: Labels(item, label) for name, (item, label) in zip(classes, columns, strict=True)})


def digest(image_sets: ImageSets, truths: Mapping[Key, Truth]) -> str:
    """Return the SHA-256 of the content, in hexadecimal.

    It covers everything that scores depend on and nothing else: not where the truth was read from, in which order the
    files came, their time stamps, or how label maps are held.
    """
    content = hashlib.sha256(image_sets.edition.encode())
    for key, image_set in sorted(image_sets.sets.items()):
        _add(content, "public", key, of_image_set(image_set))
    for key, truth in sorted(truths.items(), key=lambda item: item[0]):
        if isinstance(truth, SegmentationTruth):
            for image in range(len(truth)):
                _add(content, "secret", key, {str(image): truth.runs(image).pixels()})
        else:
            _add(content, "secret", key, of_truth(truth))
    return content.hexdigest()


def as_bytes(text: str) -> NDArray[np.uint8]:
    """Return text as an array of UTF-8 bytes."""
    return np.frombuffer(text.encode(), dtype=np.uint8)


def as_text(array: NDArray[Any]) -> str:
    """Return what `as_bytes` made an array."""
    return array.tobytes().decode()


def _inflated(arrays: Arrays) -> Iterator[NDArray[np.uint8]]:
    """Yield the (height, width) label maps of files of format 1: zlib, one map after another."""
    start = 0
    for end, (width, height) in zip(arrays["end"], arrays["size"].tolist(), strict=True):
        pixels = zlib.decompress(arrays["data"][start:end].data, bufsize=width * height)
        yield np.frombuffer(pixels, dtype=np.uint8).reshape(height, width)
        start = end


def _add(content: "hashlib._Hash", half: str, key: Key, arrays: Arrays) -> None:
    for name, array in arrays.items():
        content.update(f"\n{half}/{'/'.join(key)}/{name}/{array.dtype.str}/{array.shape}\n".encode())
        content.update(np.ascontiguousarray(array).data)
