"""Detection files."""

from vocboard.evaluator.problems.registry import error, warning

TOO_MANY_DETECTIONS = error(
    "too_many_detections",
    "Too many detections in one image",
    "Image {image} has {count:,} detections of this class, more than {limit:,}.",
    "Keep the most confident ones.",
    example="12,000 lines for one image",
)
ZERO_BASED_BOXES = warning(
    "zero_based_boxes",
    "Boxes that seem to count from 0",
    "{count} (the first here) with left or top exactly 0, and none that reaches the last column or row of its image. "
    "Coordinates count from 1.",
    "If yours count from 0, add 1 to each coordinate.",
    example="2008_000001 0.9 0 0 499 374 in an image of 500 x 375",
)
