"""Text files, line by line."""

from vocboard.evaluator.problems.registry import error, warning

NOT_UTF8 = error(
    "not_utf8",
    "Not plain text",
    "Byte 0x{byte:02x} is not valid UTF-8 text.",
    "Write the file as plain ASCII or UTF-8 text.",
    example="a MATLAB or NumPy file named comp4_det_test_car.txt",
)
UTF16 = error(
    "utf16",
    "A text file in UTF-16",
    "The file is encoded in UTF-16.",
    "Write it as plain ASCII or UTF-8. In PowerShell: `Out-File -Encoding ascii`.",
    example="a file written by `>` in Windows PowerShell",
)
BYTE_ORDER_MARK = warning(
    "byte_order_mark",
    "A byte order mark",
    "The file begins with a byte order mark, which was ignored.",
    example="a file saved by Windows Notepad as UTF-8 with BOM",
)
LINE_ENDS_OF_WINDOWS = warning(
    "line_ends_of_windows",
    "Windows line endings",
    "{count} (this one first) {has} Windows line endings (CR LF). They are accepted.",
    example="a file written on Windows",
)
LINE_ENDS_OF_OLD_MACS = warning(
    "line_ends_of_old_macs",
    "Line endings of old Macs",
    "{count} (this one first) {has} line endings of old Macs (CR alone). They are accepted.",
    example="lines that end in CR alone",
)
TABS = warning(
    "tabs",
    "Tabs between the fields",
    "{count} (this one first) {has} tabs between the fields. They are read like spaces.",
    example="2008_000001<TAB>0.5",
)
EMPTY_FILE = warning(
    "empty_file",
    "Empty file",
    "The file contains no results. The class still counts as entered.",
    "If you do not want to enter the class, remove the file.",
    example="comp4_det_test_car.txt of 0 bytes",
)
LINE_TOO_LONG = error(
    "line_too_long",
    "Line too long",
    "The line has {length:,} characters, more than {limit:,}.",
    "Write one result per line: {format}.",
    example="all results in one line",
)
TOO_MANY_LINES = error(
    "too_many_lines",
    "Too many lines",
    "The file has {count:,} lines, more than {limit:,}.",
    "Keep the most confident results.",
    example="a detection file with every window of every image",
)
TOO_MANY_DETECTIONS = error(
    "too_many_detections",
    "Too many detections in one image",
    "Image {image} has {count:,} detections of this class, more than {limit:,}.",
    "Keep the most confident ones.",
    example="12,000 lines for one image",
)
WRONG_NUMBER_OF_FIELDS = error(
    "wrong_number_of_fields",
    "Wrong number of fields",
    "Found {found}, expected {expected}: {format}.{hint}",
    "Separate fields with spaces, and write one result per line.",
    example="2008_000001 0.9 10 20 30",
)
CONFIDENCE_MISSING = error(
    "confidence_missing",
    "Missing confidence",
    "Found {found}, expected {expected}: the confidence seems to be missing.",
    "Write {format}.",
    example="2008_000001 10 20 110 220 in a detection file",
)
BOX_MISSING = error(
    "box_missing",
    "Missing box",
    "Found an image and a confidence, but no box.",
    "Write {format}. Lines without a box belong in classification files.",
    example="2008_000001 0.9 in a detection file",
)
OBJECT_INDEX_MISSING = error(
    "object_index_missing",
    "Missing object index",
    "Found {found}, expected {expected}: the object index seems to be missing.",
    "Write {format}. The image set file lists the people by image and object index.",
    example="2010_006215 0.9 in an action file",
)
WRONG_SEPARATOR = error(
    "wrong_separator",
    "Wrong separator",
    "The fields are separated by {found}.",
    "Separate them with spaces: {format}.",
    example="2008_000001,0.9",
)
NOT_A_NUMBER = error(
    "not_a_number",
    "Not a number",
    "The {field} is {found}, which is not a number.",
    "Write decimal numbers such as 0.75, -12 or 1e-5.",
    example="2008_000001 high",
)
COMMA_DECIMAL = error(
    "comma_decimal",
    "A decimal comma",
    "The {field} is {found}, with a comma.",
    "Write {meant}. Numbers need a decimal point, whatever the system's language.",
    example="2008_000001 0,75",
)
NOT_FINITE = error(
    "not_finite",
    "NaN or infinity",
    "The {field} is {found}, but must be a finite number.",
    "Replace it with a number, or remove the line.",
    example="2008_000001 NaN",
)
NUMBER_OUT_OF_RANGE = error(
    "number_out_of_range",
    "Number out of range",
    "The {field} is {found}, outside ±{limit:g}.",
    "Scale it down; only the order of confidences matters.",
    example="2008_000001 1e300",
)
CONFIDENCE_OUT_OF_RANGE = error(
    "confidence_out_of_range",
    "A confidence outside the challenge's range",
    "The confidence is {found}, but must be from {least:g} to {greatest:g} in this challenge.",
    "Scale confidences to that range without changing their order.",
    example="151 7.5 89 112 516 466 Car, where confidences are from 0 to 1",
)
WRONG_CLASS = error(
    "wrong_class",
    "Unknown class in a line",
    "The class is {found}, expected one of {classes}{hint}.",
    "Write the class as the challenge spells it.",
    example="151 0.7 89 112 516 466 car, where the class is called Car",
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
UNKNOWN_PERSON = error(
    "unknown_person",
    "A person that is not in the test set",
    "Object {object} of image {image} is not a person of the {task} test set{listed}.",
    "Take image and object index from the image set file.",
    example="2010_006215 7 0.9, where the image has two people",
)
REPEATED_IMAGE = error(
    "repeated_image",
    "Two confidences for one image",
    "Image {image} already has a confidence in line {first}.",
    "Keep one line per image.",
    example="2008_000001 0.9 and, further down, 2008_000001 0.8",
)
REPEATED_PERSON = error(
    "repeated_person",
    "Two confidences for one person",
    "Object {object} of image {image} already has a confidence in line {first}.",
    "Keep one line per person.",
    example="2010_006215 1 0.9 and, further down, 2010_006215 1 0.8",
)
IMAGES_WITHOUT_CONFIDENCE = warning(
    "images_without_confidence",
    "Images without a confidence",
    "{count} of {all:,} in the test set {has} no line (the first is {first}). They are ranked last.",
    "Write a confidence for every image, however low.",
    example="a classification file that only lists images in which the class was found",
)
PERSONS_WITHOUT_CONFIDENCE = warning(
    "persons_without_confidence",
    "People without a confidence",
    "{count} of the {all:,} that the test set lists for all actions together {has} no line (the first is object "
    "{object} of image {first}). Those who count for this action are ranked last; the others do not matter.",
    "Write a confidence for every person, however low. Which people count for an action is not public.",
    example="an action file without some of the people of ImageSets/Action/test.txt",
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
ZERO_BASED_BOXES = warning(
    "zero_based_boxes",
    "Boxes that seem to count from 0",
    "{count} (the first here) with left or top exactly 0, and none that reaches the last column or row of its image. "
    "Coordinates count from 1.",
    "If yours count from 0, add 1 to each coordinate.",
    example="2008_000001 0.9 0 0 499 374 in an image of 500 x 375",
)
