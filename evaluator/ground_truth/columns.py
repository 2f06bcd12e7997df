"""Image sets taken apart into named arrays and put together again, and the digest of ground truth."""

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.ground_truth.model import Key
from vocboard.evaluator.image_sets import ImageSet, ImageSets
from vocboard.evaluator.tasks.truth import Arrays, Truth, as_bytes, as_text


def of_image_set(image_set: ImageSet) -> dict[str, NDArray[Any]]:
    """Return the arrays of the public half of one task; an unknown one is absent."""
    arrays = {"images": as_bytes("\n".join(image_set.images)), "sizes": image_set.sizes, "persons": image_set.persons}
    return {name: array for name, array in arrays.items() if array is not None}


def to_image_set(arrays: Arrays) -> ImageSet:
    """Return what `of_image_set` took apart."""
    images = as_text(arrays["images"])
    return ImageSet(tuple(images.split("\n")) if images else (), arrays.get("sizes"), arrays.get("persons"))


def digest(image_sets: ImageSets, truths: Mapping[Key, Truth]) -> str:
    """Return the SHA-256 of the content, in hexadecimal.

    It covers everything that scores depend on and nothing else: not where the truth was read from, in which order the
    files came, their time stamps, or how label maps are held.
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
