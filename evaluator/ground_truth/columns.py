"""Converts image sets to named arrays and back, and computes the digest of ground truth."""

import functools
import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.image_sets import ImageSet, ImageSets, Key
from vocboard.evaluator.tasks.truth import Arrays, Truth, as_bytes, as_text


def of_image_set(image_set: ImageSet) -> dict[str, NDArray[Any]]:
    """Return the arrays of the public part of one task, without unknown ones."""
    arrays = {"images": as_bytes("\n".join(image_set.images)), "sizes": image_set.sizes, "persons": image_set.persons}
    return {name: array for name, array in arrays.items() if array is not None}


def to_image_set(arrays: Arrays) -> ImageSet:
    """Return the image set from the arrays of `of_image_set`."""
    return ImageSet(_split(as_text(arrays["images"])), arrays.get("sizes"), arrays.get("persons"))


@functools.lru_cache(maxsize=8)
def _split(images: str) -> tuple[str, ...]:
    """Return the images, which several tasks of an image set have in common, and often the next ground truth too."""
    return tuple(images.split("\n")) if images else ()


def digest(image_sets: ImageSets, truths: Mapping[Key, Truth]) -> str:
    """Return the hexadecimal SHA-256 of the content.

    It covers only what scores depend on, and not the source of the ground truth, the order of files, time stamps, or
    the storage of label maps.
    """
    content = hashlib.sha256(image_sets.edition.encode())
    for key, image_set in sorted(image_sets.sets.items()):
        _add(content, "public", key, of_image_set(image_set))
    for key, truth in sorted(truths.items(), key=lambda item: item[0]):
        for arrays in truth.digested():
            _add(content, "secret", key, arrays)
    return content.hexdigest()


def _add(content: "hashlib._Hash", half: str, key: Key, arrays: Arrays) -> None:
    for name, array in arrays.items():
        content.update(f"\n{half}/{'/'.join(key)}/{name}/{array.dtype.str}/{array.shape}\n".encode())
        content.update(np.ascontiguousarray(array).data)
