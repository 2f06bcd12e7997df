"""The public part of a test set: image identifiers, image sizes and person indices.

It is separate from the ground truth. Validation of uploads uses only this.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.names import Task

Key = tuple[Task, str]  # task and image set, for example (Task.DETECTION, "test")

_FORMAT = 1  # increase it when the meaning of the JSON changes


class ImageSetsFormatError(ValueError):
    """The text is not JSON of image sets."""


@dataclass(frozen=True, eq=False, slots=True)
class ImageSet:
    """The test items of one task.

    Attributes:
        images: identifiers, in the order of the image set file.
        sizes: (n, 2) int32, width and height in pixels; None if unknown (a tree without annotations and images).
        persons: (m, 2) int32, for tasks with people: index into `images`, and 1-based object index in that image's
            annotation. In the order of the image set file, or by image and object index if the file does not list
            people. None for other tasks, and if the people are unknown.
    """

    images: tuple[str, ...]
    sizes: NDArray[np.int32] | None = None
    persons: NDArray[np.int32] | None = None

    def sizes_by_image(self) -> dict[str, tuple[int, int]] | None:
        """Return width and height by image; None if unknown."""
        if self.sizes is None:
            return None
        return {image: (width, height) for image, (width, height) in zip(self.images, self.sizes.tolist(), strict=True)}


@dataclass(frozen=True, eq=False, slots=True)
class ImageSets:
    """The image sets of an edition's test data, by task and set name (`test`)."""

    edition: str
    sets: Mapping[tuple[Task, str], ImageSet]

    def images(self, task: str) -> tuple[str, ...]:
        """Return the identifiers of a task's images, in the order of the image set.

        Raises:
            KeyError: there is no image set for the task, or there are several.
        """
        return self._of(task).images

    def sizes(self, task: str) -> dict[str, tuple[int, int]] | None:
        """Return width and height of a task's images in pixels, by identifier; None if unknown.

        Raises:
            KeyError: as in `images`.
        """
        return self._of(task).sizes_by_image()

    def people(self, task: str) -> tuple[tuple[str, int], ...] | None:
        """Return image and object index of a task's people, in the order of the image set; None if unknown.

        Raises:
            KeyError: as in `images`.
        """
        found = self._of(task)
        if found.persons is None:
            return None
        return tuple((found.images[image], index) for image, index in found.persons.tolist())

    def _of(self, task: str) -> ImageSet:
        found = [image_set for (of, _), image_set in self.sets.items() if of == task]
        if len(found) != 1:
            has = ", ".join(f"{of} ({name})" for of, name in self.sets)
            raise KeyError(f"not one image set for {task!r}; there are {has}")
        return found[0]

    def to_json(self) -> str:
        """Return compact JSON, for storage and for offline validation."""
        # Equal sets, such as those of classification and detection, are only stored once.
        written: dict[str, dict[str, Any]] = {}
        for (task, name), image_set in self.sets.items():
            content = {
                "images": list(image_set.images),
                "sizes": None if image_set.sizes is None else image_set.sizes.tolist(),
                "persons": None if image_set.persons is None else image_set.persons.tolist(),
            }
            key = json.dumps([name, content], separators=(",", ":"))
            written.setdefault(key, {"tasks": [], "name": name, **content})["tasks"].append(task.value)
        document = {"format": _FORMAT, "edition": self.edition, "image_sets": list(written.values())}
        return json.dumps(document, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str | bytes) -> "ImageSets":
        """Parse the JSON of `to_json`.

        Raises:
            ImageSetsFormatError: the text has another format.
        """
        try:
            document = json.loads(text)
            if document["format"] != _FORMAT:
                raise ImageSetsFormatError(
                    f"Image sets of format {document['format']!r}; this program reads {_FORMAT}."
                )
            sets = {}
            for entry in document["image_sets"]:
                image_set = _image_set(entry)
                sets.update({(Task(task), str(entry["name"])): image_set for task in entry["tasks"]})
            return cls(str(document["edition"]), sets)
        except ImageSetsFormatError:
            raise
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError) as error:
            raise ImageSetsFormatError("This is not a file of image sets as vocboard writes it.") from error


def _image_set(entry: Mapping[str, Any]) -> ImageSet:
    images = tuple(entry["images"])
    if not all(isinstance(image, str) for image in images) or len(set(images)) != len(images):
        raise ValueError("images must be texts, each once")
    sizes, persons = _pairs(entry["sizes"]), _pairs(entry["persons"])
    if sizes is not None and len(sizes) != len(images):
        raise ValueError("there must be as many sizes as images")
    if persons is not None and len(persons) and not 0 <= persons[:, 0].min() <= persons[:, 0].max() < len(images):
        raise ValueError("persons must name images by their position")
    return ImageSet(images, sizes, persons)


def _pairs(rows: list[list[int]] | None) -> NDArray[np.int32] | None:
    if rows is None:
        return None
    return np.array(rows, dtype=np.int32).reshape(len(rows), 2)
