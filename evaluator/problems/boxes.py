"""Boxes, in detection and layout files."""

from vocboard.evaluator.problems.registry import error, warning

BOX_MISSING = error(
    "box_missing",
    "Missing box",
    "Found an image and a confidence, but no box.",
    "Write {format}. Lines without a box belong in classification files.",
    example="2008_000001 0.9 in a detection file",
)
BOX_UPSIDE_DOWN = warning(
    "box_upside_down",
    "Boxes with left and right, or top and bottom, swapped",
    "{count} (the first here) with right < left or bottom < top. A box whose sides are swapped by a pixel or more "
    "has no area and cannot match anything.",
    "Write left, top, right, bottom, not width and height.",
    example="2008_000001 0.9 100 50 30 40",
)
BOX_OUTSIDE_IMAGE = warning(
    "box_outside_image",
    "Boxes outside their image",
    "{count} (the first here) completely outside the image. A box that is a pixel or more away from it cannot match "
    "anything.",
    "Coordinates are pixels of the original image, counted from 1.",
    example="2008_000001 0.9 600 10 700 90 in an image of 500 x 375",
)
