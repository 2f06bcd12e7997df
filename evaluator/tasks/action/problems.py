"""Action files."""

from vocboard.evaluator.problems.registry import error, warning

REPEATED_PERSON = error(
    "repeated_person",
    "Two confidences for one person",
    "Object {object} of image {image} already has a confidence in line {first}.",
    "Keep one line per person.",
    example="2010_006215 1 0.9 and, further down, 2010_006215 1 0.8",
)
PERSONS_WITHOUT_CONFIDENCE = warning(
    "persons_without_confidence",
    "People without a confidence",
    "{count} of the {all:,} that the test set lists for all actions together {has} no line (the first is object "
    "{object} of image {first}). Those who count for this action are ranked last; the others do not matter.",
    "Write a confidence for every person, however low. Which people count for an action is not public.",
    example="an action file without some of the people of ImageSets/Action/test.txt",
)
