"""Warns of what a tree cannot keep of COCO's ground truth: ids, names, folders and areas."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from vocboard.evaluator.conversion.json_input import four, number
from vocboard.evaluator.conversion.names import CategoryNames, image_numbers
from vocboard.evaluator.conversion.problems import ProblemCollector
from vocboard.evaluator.problems import Severity

_LIST = "To get them back, convert the tree with --reverse and give this JSON as --{} FILE."


class KeptAnnotation(NamedTuple):
    """An annotation of the input that the tree has.

    Attributes:
        row: the annotation.
        place: its number in the list, from 1 on.
        pixels: number of pixels of its object in the label map; None without a segmentation.
    """

    row: Mapping[str, Any]
    place: int
    pixels: int | None


class ChangeNotes:
    """Adds the warnings for one file."""

    def __init__(self, problems: ProblemCollector, file: str) -> None:
        """Take the collector of problems, and the file name for messages."""
        self._problems, self._file = problems, file

    def images(self, rows: Iterable[Mapping[str, Any]], stems: Mapping[str, str]) -> None:
        """Compare ids and file names with those that converting back gives.

        Args:
            rows: the list `images`.
            stems: images by the texts of their ids.
        """
        numbers, remedy = image_numbers(tuple(stems.values())), _LIST.format("images")
        for place, row in enumerate(rows, start=1):
            image = stems[str(row["id"])]
            if row["id"] != numbers[image]:
                found = "ids of images that are not the numbers in their names"
                self._add("image_ids", found, remedy, place, value=row["id"], noun="image")
            if row["file_name"] != f"{image}.jpg":
                found = "names of image files with a folder or another suffix than .jpg"
                self._add("file_names", found, remedy, place, value=row["file_name"], noun="image")

    def categories(self, rows: Iterable[Any], known: CategoryNames) -> None:
        """Compare ids and names with those of the edition's classes."""
        for place, row in enumerate((row for row in rows if isinstance(row, dict)), start=1):
            name = known.class_of(str(row.get("name")))
            if name is None or row.get("id") != known.classes.index(name) + 1 or row.get("name") != name:
                found = "categories with another id or name than the edition's class, or without a class"
                value = f"{row.get('id')} {row.get('name')}"
                self._add("category_ids", found, _LIST.format("categories"), place, value=value, noun="category")

    def annotations(self, kept: Iterable[KeptAnnotation]) -> None:
        """Compare ids and areas with those that converting back gives; annotations in the order of the tree."""
        for expected, (row, place, pixels) in enumerate(kept, start=1):
            if row.get("id", expected) != expected:
                remedy = "Converted back, annotations are numbered from 1 on, image after image."
                self._add("annotation_ids", "ids of annotations, which a tree does not have", remedy, place)
            area, box = number(row.get("area")), four(row.get("bbox"))
            again = box[2] * box[3] if pixels is None and box is not None else Decimal(pixels or 0)
            if area is not None and area != again:
                found = "areas that are not those of the box, or of the pixels in the label map"
                remedy = "A tree has no areas: converted back, they are computed again, and scores by area can change."
                self._add("areas", found, remedy, place)

    def _add(
        self, code: str, found: str, remedy: str, place: int, *, value: object = None, noun: str = "annotation"
    ) -> None:
        self._problems.add(
            f"changed_{code}", found, remedy, file=self._file, line=place, value=value, noun=noun,
            nouns="categories" if noun == "category" else None, severity=Severity.WARNING,
        )  # fmt: skip
