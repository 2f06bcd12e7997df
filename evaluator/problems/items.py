"""Images and people that lines are about."""

from vocboard.evaluator.problems.registry import error

UNKNOWN_IMAGE = error(
    "unknown_image",
    "An image that is not in the test set",
    "{image} is not in the {task} test set of {described}{hint}.",
    "Take the identifiers from the image set file.",
    example="an image of the training set, of another year, or with a slip in its name",
)
IMAGE_OF_ANOTHER_TASK = error(
    "image_of_another_task",
    "An image of another task's test set",
    "{image} is in the test set of {tasks}, but not in the test set of {task}, which has {described}.",
    "Take the identifiers from the task's own image set file.",
    example="an image of ImageSets/Main/test.txt that ImageSets/Segmentation/test.txt does not have",
)
IMAGE_WITH_FILE_NAME = error(
    "image_with_file_name",
    "File name or path instead of an image identifier",
    "{image} is a {what}, expected only the identifier: {meant}.",
    "Remove directories and the file extension.",
    example="2008_000001.jpg, JPEGImages/2008_000001.jpg, C:\\VOC2012\\JPEGImages\\2008_000001.jpg",
)
IMAGE_IN_ANOTHER_COLUMN = error(
    "image_in_another_column",
    "The image in another column",
    "The image {image} is in column {column}, expected in the first.",
    "Write {format}.",
    example="0.9 2008_000001",
)
BAD_OBJECT_INDEX = error(
    "bad_object_index",
    "Object index is not a whole number",
    "The object index is {found}, expected a whole number from 1.",
    "Take it from the image set file.",
    example="2010_006215 1.0 0.9 in an action file",
)
OBJECT_INDEX_ZERO = error(
    "object_index_zero",
    "Object index 0",
    "The object index is 0, but objects are numbered from 1.",
    "Take it from the image set file. If your program counts from 0, add 1 to every index.",
    example="2010_006215 0 0.9 in an action file",
)
OBJECT_INDEX_MISSING = error(
    "object_index_missing",
    "Missing object index",
    "Found {found}, expected {expected}: the object index seems to be missing.",
    "Write {format}. The image set file lists the people by image and object index.",
    example="2010_006215 0.9 in an action file",
)
UNKNOWN_PERSON = error(
    "unknown_person",
    "A person that is not in the test set",
    "Object {object} of image {image} is not a person of the {task} test set{listed}.",
    "Take image and object index from the image set file.",
    example="2010_006215 7 0.9, where the image has two people",
)
