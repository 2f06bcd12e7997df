"""Checks all converted detections together, for errors that a single line does not show."""

from collections.abc import Mapping, Sequence
from decimal import Decimal

from vocboard.evaluator.conversion.boxes import ConvertedDetection
from vocboard.evaluator.conversion.names import ImageNames
from vocboard.evaluator.conversion.problems import ProblemCollector
from vocboard.evaluator.editions import Edition
from vocboard.evaluator.problems import Severity, counted

SWAPPED_CORNERS = "swapped_corners"  # code of a problem
_ENOUGH = 5  # detections; fewer do not show a common size
_MAX_FRACTION = Decimal(2)
_BEYOND = Decimal("1.1")  # of the image's width or height: detectors do not reach so far beyond the edge
_MANY_BEYOND = 5  # one of so many boxes


def check_boxes(
    found: Sequence[ConvertedDetection],
    sizes: Mapping[str, tuple[int, int]] | None,
    problems: ProblemCollector,
    file: str,
) -> None:
    """Add problems for upside-down boxes, boxes for images of another size, and fractions instead of pixels."""
    outside = beyond = 0
    upside_down = [each for each in found if each.box[2] + 1 < each.box[0] or each.box[3] + 1 < each.box[1]]
    _note_upside_down(upside_down, 2 * len(upside_down) > len(found), problems, file)
    if sizes is not None:
        outside = sum(_is_outside(each, sizes[each.image]) for each in found)
        beyond = sum(_reaches_beyond(each, sizes[each.image]) for each in found)
    if len(found) >= _ENOUGH and all(max(each.box) <= _MAX_FRACTION for each in found):
        problems.add(
            "looks_normalised",
            "all boxes are smaller than two pixels",
            "They seem to be fractions of the image's size; multiply them by it, or use the format yolo.",
            file=file,
        )
    elif len(found) >= _ENOUGH and 2 * outside > len(found):
        problems.add(
            "wrong_image_size",
            f"{counted(outside, 'box', 'boxes')} of {len(found):,} lie outside their images",
            "Scale boxes back to the size of the original image, and check that they are pixels.",
            file=file,
        )
    elif len(found) >= _ENOUGH and _MANY_BEYOND * beyond > len(found):
        problems.add(
            "wrong_image_size",
            f"{counted(beyond, 'box', 'boxes')} of {len(found):,} reach far beyond the right or lower edge of their "
            "images",
            "If they are of images of another size, scale boxes back to the size of the original image. If not, check "
            "that the numbers are what the format says, such as width and height (coco).",
            file=file,
            severity=Severity.WARNING,
        )


def _reaches_beyond(found: ConvertedDetection, size: tuple[int, int]) -> bool:
    """Whether a box ends a tenth of the image or more beyond its right or lower edge."""
    return found.box[2] > size[0] * _BEYOND or found.box[3] > size[1] * _BEYOND


def _is_outside(found: ConvertedDetection, size: tuple[int, int]) -> bool:
    """Whether a box that is not upside down lies completely outside its image."""
    left, top, right, bottom = found.box
    is_upright = right + 1 >= left and bottom + 1 >= top
    return is_upright and (left > size[0] or top > size[1] or right < 1 or bottom < 1)


def _note_upside_down(
    upside_down: Sequence[ConvertedDetection], are_most: bool, problems: ProblemCollector, file: str
) -> None:
    """Add a problem for boxes with swapped corners: an error if most boxes have them, otherwise a warning.

    Real detectors write hundreds of them, and the kits score them unchanged, so they are converted. If most boxes have
    swapped corners, the numbers do not have the meaning that the format says.
    """
    for each in upside_down:
        problems.add(
            SWAPPED_CORNERS,
            "boxes whose right side is left of their left side, or whose bottom is above their top",
            "Check that the third and fourth number are what the format says: width and height (coco), or the right "
            "and bottom sides; and sort the corners."
            if are_most
            else "They are written as they are, as the kits score them: they match nothing.",
            file=file, line=each.place, noun="box", nouns="boxes",
            severity=Severity.ERROR if are_most else Severity.WARNING,
        )  # fmt: skip


def check_covered(
    edition: Edition,
    classes: Sequence[str],
    images: Sequence[str] | None,
    names: ImageNames,
    *,
    problems: ProblemCollector,
    file: str,
) -> None:
    """Add warnings for classes that are not entered, and for images that are not in the input."""
    if problems.has_errors:
        return  # errors remove rows, so what remains can look incomplete
    missing = [name for name in edition.classes if name not in classes]
    for name in missing:
        problems.add(
            "class_without_detections",
            "classes without a detection are not entered",
            "To enter them as found nowhere, give --all-classes.",
            file=file,
            value=name,
            noun="class",
            nouns="classes",
            severity=Severity.WARNING,
        )
    if images is None:
        return
    seen = {names.find(image) for image in images}
    for image in names.images:
        if image not in seen:
            problems.add(
                "missing_image",
                "images of the image set that the input has no entry for",
                "They count as images without detections; if there were some, convert the whole output.",
                file=file,
                value=image,
                noun="image",
                severity=Severity.WARNING,
            )
