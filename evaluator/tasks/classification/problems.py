"""Classification files."""

from vocboard.evaluator.problems.registry import error, warning

REPEATED_IMAGE = error(
    "repeated_image",
    "Two confidences for one image",
    "Image {image} already has a confidence in line {first}.",
    "Keep one line per image.",
    example="2008_000001 0.9 and, further down, 2008_000001 0.8",
)
IMAGES_WITHOUT_CONFIDENCE = warning(
    "images_without_confidence",
    "Images without a confidence",
    "{count} of {all:,} in the test set {has} no line (the first is {first}). They are ranked last.",
    "Write a confidence for every image, however low.",
    example="a classification file that only lists images in which the class was found",
)
