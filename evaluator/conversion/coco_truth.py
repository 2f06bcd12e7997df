"""Shared code for converting ground truth to COCO's JSON and back.

Annotations have additional fields for what COCO has no field for (`difficult`, `truncated`, `occluded`, `view`,
`parts`, `actions`, `point`, `segmentation_label`), and images have their void pixels (`void`), so that converting back
gives the same tree. Difficult objects are also `iscrowd`, so that COCO's tools ignore them; if both fields are there,
`difficult` counts.
"""

from dataclasses import dataclass
from decimal import Decimal

from vocboard.evaluator.conversion.boxes import Four
from vocboard.evaluator.conversion.decimals import decimal, plain
from vocboard.evaluator.conversion.problems import refused
from vocboard.evaluator.editions import AnnotationFormat, Edition
from vocboard.evaluator.problems import Problem

VOID_FIELD = "void"  # of a segmented image: its ignored pixels
LABEL_FIELD = "segmentation_label"  # of an annotation: its label in SegmentationObject
ONLY_FIELD = "segmentation_only"  # of an annotation: the tree's annotation has no such object, only the label map


@dataclass(frozen=True, slots=True)
class ConvertedTruth:
    """Result of a conversion.

    Attributes:
        objects: number of objects written.
        segmentations: number of objects written with a segmentation.
        problems: warnings, for example about what the other format cannot represent.
    """

    objects: int
    segmentations: int
    problems: tuple[Problem, ...]


def needs_xml(edition: Edition) -> None:
    """Raise an error unless an edition's annotations are XML.

    Raises:
        ConversionError: they are not.
    """
    if edition.annotations.format is not AnnotationFormat.XML:
        raise refused("not_xml", f"{edition.name} annotates in text files", "Use an edition from VOC2007 on.")


def decimals(box: tuple[str, str, str, str]) -> Four:
    """Return the numbers of a box of number strings."""
    left, top, right, bottom = map(decimal, box)
    return left, top, right, bottom


def texts(box: Four) -> tuple[str, str, str, str]:
    """Return the number strings of a box."""
    left, top, right, bottom = map(plain, box)
    return left, top, right, bottom


def listed(numbers: tuple[Decimal, ...]) -> str:
    """Return numbers as a JSON list."""
    return "[" + ",".join(map(plain, numbers)) + "]"
