"""Boxes, in detection and layout files."""

from vocboard.evaluator.problems.registry import error, warning

_CONVERT = "Results of other tools: `vocboard convert`."
BOXES_AS_FRACTIONS = warning(
    "boxes_as_fractions",
    "Boxes that seem to be fractions of the image",
    "{count} of {competition} have no coordinate above 1.5, and seem to be fractions of the image's width and height.",
    f"Write pixels: multiply x by the width and y by the height of the image, and count from 1. {_CONVERT}",
    example="2008_000001 0.9 0.2 0.1 0.8 0.9 in every line",
)
BOXES_WITH_SIZES = warning(
    "boxes_with_width_and_height",
    "Boxes that seem to be x, y, width, height",
    "{count} of {competition} fit their images as x, y, width, height, and only {fitting} as left, top, right, bottom.",
    f"Write right = x + width − 1 and bottom = y + height − 1 if x and y count from 1. {_CONVERT}",
    example="2008_000001 0.9 200 150 80 60 in every line",
)
BOXES_FROM_CENTRE = warning(
    "boxes_from_centre",
    "Boxes that seem to be centre, width and height",
    "{count} of {competition} fit their images as centre x, centre y, width, height, and only {fitting} as left, top, "
    "right, bottom.",
    "Write left = x − width / 2 + 1 and right = x + width / 2, and the same for top and bottom, if x and y are "
    f"measured from 0. {_CONVERT}",
    example="2008_000001 0.9 240 180 80 60 in every line",
)
CONFIDENCE_AFTER_BOX = warning(
    "confidence_after_box",
    "The confidence seems to be in the last column",
    "In {count} of {competition}, the last number looks like a confidence, and the four numbers before it like a box.",
    f"Write <image> <confidence> <left> <top> <right> <bottom>. {_CONVERT}",
    example="2008_000001 200 150 280 210 0.9 in every line",
)
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
