"""Reads the text files in a development kit's `ImageSets/`: test items and per-class labels.

White space and line ends vary between the kits; blank lines are ignored.
Source: VOC2010 document section 9.1.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np

from vocboard.evaluator.image_sets import Key
from vocboard.evaluator.problems import counted
from vocboard.evaluator.problems.trees import TreeProblems, some
from vocboard.evaluator.result_files.fields import MAX_OBJECT_INDEX
from vocboard.evaluator.rules import Edition
from vocboard.evaluator.tasks.classification.truth import DIFFICULT, NEGATIVE, POSITIVE, Labels
from vocboard.evaluator.tasks.definitions import TASKS

Person = tuple[int, int]  # index into the images, 1-based object index

Item = TypeVar("Item")

_END_OF_LINE = "\ud800"  # a surrogate: no decoded text has one

LABELS = {str(label): label for label in (POSITIVE, DIFFICULT, NEGATIVE)}


def file_of(edition: Edition, key: Key, class_name: str | None = None) -> str:
    """Return the name of the file that lists a task's test items, or those of one class with their labels."""
    task, image_set = key
    folder = f"ImageSets/{TASKS[task].folder}" if edition.has_set_folders else "ImageSets"
    return f"{folder}/{image_set if class_name is None else f'{class_name}_{image_set}'}.txt"


@dataclass(frozen=True, slots=True)
class Listed:
    """The test items in a task's image set file.

    Attributes:
        images: unique identifiers, in order.
        people: the line of each person, in order; None if the lines have no object index.
        file: its name in the tree.
    """

    images: tuple[str, ...]
    people: Mapping[Person, int] | None = None
    file: str = ""

    @property
    def index(self) -> dict[str, int]:
        """Return the index of each image."""
        return {image: index for index, image in enumerate(self.images)}


class Line(NamedTuple):
    """A non-blank line: its 1-based number and its fields."""

    number: int
    fields: list[str]


class ImageSetFiles:
    """Reads image set files, and collects problems."""

    def __init__(self, files: Mapping[str, bytes], problems: TreeProblems) -> None:
        """Take the files' content by name (`ImageSets/Main/test.txt`) and the collector of problems."""
        self._files = files
        self._problems = problems

    def __contains__(self, name: str) -> bool:
        return name in self._files

    def images(self, name: str) -> Listed:
        """Return the images of a file with lines `<image>`.

        A second field is ignored, as by the VOC2007 kit, whose layout lists have one.
        """
        first_line: dict[str, int] = {}
        for line in self._lines(name, (1, 2)):
            self._once(first_line, line.fields[0], name, line)
        return Listed(tuple(first_line), file=name)

    def people(self, name: str) -> Listed:
        """Return the people of a file with lines `<image> <object>`, or its images if no line has an object index."""
        images: dict[str, int] = {}
        people: dict[Person, int] = {}
        plain: dict[int, int] = {}
        for line in self._lines(name, (1, 2)):
            image = images.setdefault(line.fields[0], len(images))
            if len(line.fields) == 1:
                self._once(plain, image, name, line)
            elif (index := self._object_index(name, line)) is not None:
                self._once(people, (image, index), name, line)
        if plain and people:
            message = "no object index, which other lines have"
            self._problems.add("mixed_lines", message, name, next(iter(plain.values())))
        return Listed(tuple(images), None if plain else people, name)

    def image_labels(self, name: str, images: Mapping[str, int]) -> Labels:
        """Return one class's labels from lines `<image> <label>`; every test image must have one."""
        plain = self._plain_image_labels(name, images)
        if plain is not None:
            return plain
        labels = self._labels(name, 2, lambda line: self._image(name, line, images))
        if missing := [image for image, index in images.items() if index not in labels]:
            listed = f"lists {len(labels)} of the {len(images)} test images; without a label: {some(missing)}"
            self._problems.add("missing_labels", listed, name)
        return as_labels(labels)

    def person_labels(
        self, name: str, images: Mapping[str, int], people: Collection[Person] | None = None
    ) -> dict[Person, int]:
        """Return one action's labels by person, from lines `<image> <object> <label>`, in order.

        If `people` is given, only these may be listed.
        An action's list may lack people of other actions' lists, who were not annotated with it (jumping, before
        VOC2011).
        """

        def person(line: Line) -> Person | None:
            image = self._image(name, line, images)
            index = self._object_index(name, line)
            if image is None or index is None:
                return None
            if people is not None and (image, index) not in people:
                self._report("unknown_person", f"person {index} of image {line.fields[0]} is not listed", name, line)
                return None
            return image, index

        return self._labels(name, 3, person)

    def _plain_image_labels(self, name: str, images: Mapping[str, int]) -> Labels | None:
        """Return the labels of a file with exactly one line for each image; None for other files.

        This fast path matters: the lists of twenty classes have more lines than all annotations have objects.
        """
        try:
            lines = self._files[name].decode("utf-8-sig").splitlines()
        except UnicodeDecodeError:
            return None
        count = len(images)
        fields = f" {_END_OF_LINE} ".join((*lines, "")).split()
        if len(lines) != count or len(fields) != 3 * count or fields[2::3].count(_END_OF_LINE) != count:
            return None
        names = fields[::3]
        try:
            labels = [LABELS[label] for label in fields[1::3]]
            # Most trees list the images in the order of the image set.
            items = images.values() if names == list(images) else [images[name] for name in names]
        except KeyError:
            return None
        return _columns(items, labels) if len(set(items)) == count else None

    def _labels(self, name: str, fields: int, item_of: Callable[[Line], Item | None]) -> dict[Item, int]:
        labels: dict[Item, int] = {}
        first_line: dict[Item, int] = {}
        for line in self._lines(name, (fields,)):
            label = LABELS.get(line.fields[-1])
            if label is None:
                self._report("bad_label", f"label {line.fields[-1]!r}, expected 1, 0 or -1", name, line)
            item = item_of(line)
            if item is not None and label is not None and self._once(first_line, item, name, line):
                labels[item] = label
        return labels

    def _lines(self, name: str, fields: tuple[int, ...]) -> Iterator[Line]:
        try:
            text = self._files[name].decode("utf-8-sig")
        except UnicodeDecodeError as error:
            self._problems.add("not_text", f"is not a UTF-8 text file (byte {error.start})", name)
            return
        for number, content in enumerate(text.splitlines(), start=1):
            line = Line(number, content.split())
            if line.fields and ("/" in line.fields[0] or "\\" in line.fields[0]):
                self._report("bad_image", f"{line.fields[0]!r} is a path, expected an image identifier", name, line)
            elif len(line.fields) in fields:
                yield line
            elif line.fields:
                expected = " or ".join(str(count) for count in fields)
                self._report("wrong_fields", f"{counted(len(line.fields), 'field')}, expected {expected}", name, line)

    def _image(self, name: str, line: Line, images: Mapping[str, int]) -> int | None:
        image = images.get(line.fields[0])
        if image is None:
            self._report("unknown_image", f"image {line.fields[0]!r} is not in the test set", name, line)
        return image

    def _object_index(self, name: str, line: Line) -> int | None:
        text = line.fields[1]
        is_short = text.isascii() and text.isdecimal() and len(text) <= len(str(MAX_OBJECT_INDEX))
        if is_short and 0 < int(text) <= MAX_OBJECT_INDEX:
            return int(text)
        self._report("bad_object_index", f"object index {line.fields[1]!r}, expected a number from 1", name, line)
        return None

    def _once(self, first_line: dict[Item, int], item: Item, name: str, line: Line) -> bool:
        first = first_line.setdefault(item, line.number)
        if first != line.number:
            self._report("repeated_item", f"{' '.join(line.fields)} repeats line {first}", name, line)
        return first == line.number

    def _report(self, code: str, message: str, name: str, line: Line) -> None:
        self._problems.add(code, message, name, line.number)


def as_labels(label_of: Mapping[int, int]) -> Labels:
    """Return columns of items and their labels, in order."""
    return _columns(label_of, label_of.values())


def _columns(items: Collection[int], labels: Collection[int]) -> Labels:
    return Labels(np.fromiter(items, np.int32, len(items)), np.fromiter(labels, np.int8, len(labels)))
