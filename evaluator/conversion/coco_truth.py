"""What converting ground truth to COCO's JSON and back has in common.

Beside COCO's own fields an annotation keeps what COCO has no field for (`difficult`, `truncated`, `occluded`, `view`,
`parts`, `actions`, `point`, `segmentation_label`), and an image its void pixels (`void`), so that a tree comes back as
it was. Difficult objects are `iscrowd` for COCO's tools, which so count them neither way; a `difficult` decides where
both are there.
"""

from dataclasses import dataclass
from decimal import Decimal

from vocboard.evaluator.conversion.boxes import Four
from vocboard.evaluator.conversion.decimals import decimal, plain
from vocboard.evaluator.conversion.problems import ConversionError, ProblemCollector
from vocboard.evaluator.editions import AnnotationFormat, Edition
from vocboard.evaluator.problems import Problem

VOID_FIELD = "void"  # of an image that is segmented: the pixels that count neither way
LABEL_FIELD = "segmentation_label"  # of an annotation: its label in SegmentationObject
ONLY_FIELD = "segmentation_only"  # of an annotation: the tree's annotation has no such object, only the label map


@dataclass(frozen=True, slots=True)
class ConvertedTruth:
    """What a conversion has written.

    Attributes:
        objects: how many.
        segmentations: how many of them have pixels.
        problems: warnings, among them what the other format has no place for.
    """

    objects: int
    segmentations: int
    problems: tuple[Problem, ...]


def needs_xml(edition: Edition) -> None:
    """Check that an edition's annotations are XML.

    Raises:
        ConversionError: they are not.
    """
    if edition.annotations.format is not AnnotationFormat.XML:
        problems = ProblemCollector()
        problems.add("not_xml", f"{edition.name} annotates in text files", "Use an edition from VOC2007 on.")
        raise ConversionError(problems.problems())


def decimals(box: tuple[str, str, str, str]) -> Four:
    """Return the numbers of a box of texts."""
    left, top, right, bottom = map(decimal, box)
    return left, top, right, bottom


def texts(box: Four) -> tuple[str, str, str, str]:
    """Return the texts of a box of numbers."""
    left, top, right, bottom = map(plain, box)
    return left, top, right, bottom


def listed(numbers: tuple[Decimal, ...]) -> str:
    """Return numbers as a JSON list."""
    return "[" + ",".join(map(plain, numbers)) + "]"
