"""Text files, line by line."""

from vocboard.evaluator.problems.registry import error, warning

NOT_UTF8 = error(
    "not_utf8",
    "A text file that is not plain text",
    "Byte 0x{byte:02x} is not part of UTF-8 text.",
    "Write the file as plain ASCII or UTF-8 text.",
    example="a MATLAB or NumPy file under the name comp4_det_test_car.txt",
)
UTF16 = error(
    "utf16",
    "A text file in UTF-16",
    "The file is text in UTF-16, two bytes a character.",
    "Write it as plain ASCII or UTF-8; PowerShell: `Out-File -Encoding ascii`.",
    example="a file written by `>` in Windows PowerShell",
)
BYTE_ORDER_MARK = warning(
    "byte_order_mark",
    "A byte order mark",
    "The file begins with a byte order mark, which was passed over.",
    example="a file saved by Windows Notepad as UTF-8 with BOM",
)
LINE_ENDS_OF_WINDOWS = warning(
    "line_ends_of_windows",
    "Line ends of Windows",
    "{count} (this one first) {has} line ends of Windows (CR LF), which are read like any other.",
    example="a file written on Windows",
)
LINE_ENDS_OF_OLD_MACS = warning(
    "line_ends_of_old_macs",
    "Line ends of old Macs",
    "{count} (this one first) {has} line ends of old Macs (CR alone), which are read like any other.",
    example="lines that end in CR alone",
)
TABS = warning(
    "tabs",
    "Tabs between the fields",
    "{count} (this one first) {has} tabs between the fields, which are read like spaces.",
    example="2008_000001<TAB>0.5",
)
EMPTY_FILE = warning(
    "empty_file",
    "A file without a line",
    "The file holds no results; the class counts as entered all the same.",
    "Leave the file out if the class is not meant to be entered.",
    example="comp4_det_test_car.txt of 0 bytes",
)
LINE_TOO_LONG = error(
    "line_too_long",
    "A line that is too long",
    "The line has {length:,} characters, more than {limit:,}.",
    "Expected is one result a line: {format}.",
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
    "A line with too many or too few fields",
    "Found {found}, expected {expected}: {format}.{hint}",
    "Divide fields by a space, one result a line.",
    example="2008_000001 0.9 10 20 30",
)
CONFIDENCE_MISSING = error(
    "confidence_missing",
    "A line without its confidence",
    "Found {found}, expected {expected}: the confidence seems to be missing.",
    "Write {format}.",
    example="2008_000001 10 20 110 220 in a detection file",
)
BOX_MISSING = error(
    "box_missing",
    "A detection without its box",
    "Found an image and a confidence, but no box.",
    "Write {format}; lines without a box belong into classification files.",
    example="2008_000001 0.9 in a detection file",
)
OBJECT_INDEX_MISSING = error(
    "object_index_missing",
    "An action without the index of its person",
    "Found {found}, expected {expected}: the object index seems to be missing.",
    "Write {format}; the image set file lists the people by image and object index.",
    example="2010_006215 0.9 in an action file",
)
WRONG_SEPARATOR = error(
    "wrong_separator",
    "Fields divided by something else than white space",
    "The fields are divided by {found}.",
    "Divide them by spaces: {format}.",
    example="2008_000001,0.9",
)
NOT_A_NUMBER = error(
    "not_a_number",
    "Something that is no number",
    "The {field} is {found}, which is not a number.",
    "Write decimal numbers such as 0.75, -12 or 1e-5.",
    example="2008_000001 high",
)
COMMA_DECIMAL = error(
    "comma_decimal",
    "A decimal comma",
    "The {field} is {found}, with a comma.",
    "Write {meant}: numbers have a decimal point, whatever the language of the system.",
    example="2008_000001 0,75",
)
NOT_FINITE = error(
    "not_finite",
    "NaN or infinity",
    "The {field} is {found}; results need finite numbers.",
    "Replace it by a number, or leave the line out.",
    example="2008_000001 NaN",
)
NUMBER_OUT_OF_RANGE = error(
    "number_out_of_range",
    "An absurdly large number",
    "The {field} is {found}, beyond ±{limit:g}.",
    "Scale it down; only the order of confidences matters.",
    example="2008_000001 1e300",
)
CONFIDENCE_OUT_OF_RANGE = error(
    "confidence_out_of_range",
    "A confidence outside the challenge's range",
    "The confidence is {found}; this challenge wants one from {least:g} to {greatest:g}.",
    "Map confidences into that range without changing their order.",
    example="151 7.5 89 112 516 466 Car, where confidences are from 0 to 1",
)
WRONG_CLASS = error(
    "wrong_class",
    "A line of a class that the challenge does not have",
    "The class is {found}; expected is one of {classes}{hint}.",
    "Write the class as the challenge spells it.",
    example="151 0.7 89 112 516 466 car, where the class is called Car",
)
BAD_OBJECT_INDEX = error(
    "bad_object_index",
    "An object index that is no whole number",
    "The object index is {found}; expected is a whole number from 1 on.",
    "Take it from the image set file.",
    example="2010_006215 1.0 0.9 in an action file",
)
OBJECT_INDEX_ZERO = error(
    "object_index_zero",
    "Object index 0",
    "The object index is 0, but objects count from 1.",
    "Take it from the image set file, or add 1 to every index that comes from a program.",
    example="2010_006215 0 0.9 in an action file",
)
UNKNOWN_IMAGE = error(
    "unknown_image",
    "An image that is not in the test set",
    "{image} is not an image of the {task} test set of {described}{hint}.",
    "Take the identifiers from the image set file.",
    example="an image of the training set, of another year, or with a slip in its name",
)
IMAGE_OF_ANOTHER_TASK = error(
    "image_of_another_task",
    "An image of another task's test set",
    "{image} is in the test set of {tasks}, but not in that of {task}, which has {described}.",
    "Take the identifiers from the task's own image set file.",
    example="an image of ImageSets/Main/test.txt that ImageSets/Segmentation/test.txt does not have",
)
IMAGE_WITH_FILE_NAME = error(
    "image_with_file_name",
    "A file name or path in place of an image identifier",
    "{image} is a {what}; expected is the identifier alone, {meant}.",
    "Leave out directories and the ending.",
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
    "Image {image} has a confidence in line {first} already.",
    "Keep one line an image.",
    example="2008_000001 0.9 and, further down, 2008_000001 0.8",
)
REPEATED_PERSON = error(
    "repeated_person",
    "Two confidences for one person",
    "Object {object} of image {image} has a confidence in line {first} already.",
    "Keep one line a person.",
    example="2010_006215 1 0.9 and, further down, 2010_006215 1 0.8",
)
IMAGES_WITHOUT_CONFIDENCE = warning(
    "images_without_confidence",
    "Images without a confidence",
    "{count} of {all:,} in the test set {has} no line (the first is {first}); they rank last.",
    "Give every image a confidence, however low.",
    example="a classification file with the images that the class was found in, and no others",
)
PERSONS_WITHOUT_CONFIDENCE = warning(
    "persons_without_confidence",
    "People without a confidence",
    "{count} of the {all:,} that the test set lists for all actions together {has} no line (the first is object "
    "{object} of image {first}). Those whom this action is judged on rank last; the others do not matter.",
    "Give everybody a confidence, however low; which of them an action leaves out is not public.",
    example="an action file without some of the people of ImageSets/Action/test.txt",
)
BOX_UPSIDE_DOWN = warning(
    "box_upside_down",
    "Boxes with left and right, or top and bottom, exchanged",
    "{count} (the first here) with right < left or bottom < top. A box whose sides are exchanged by a pixel or more "
    "has no area and cannot match anything.",
    "Write left, top, right, bottom; not width and height.",
    example="2008_000001 0.9 100 50 30 40",
)
BOX_OUTSIDE_IMAGE = warning(
    "box_outside_image",
    "Boxes that lie outside their image",
    "{count} (the first here) wholly outside of the image. A box that is a pixel or more away from it cannot match "
    "anything.",
    "Coordinates count from 1 in pixels of the original image.",
    example="2008_000001 0.9 600 10 700 90 in an image of 500 x 375",
)
ZERO_BASED_BOXES = warning(
    "zero_based_boxes",
    "Boxes that seem to count from 0",
    "{count} (the first here) with left or top exactly 0, and none that reaches the last column or row of its image. "
    "Coordinates count from 1.",
    "If these count from 0, add 1 to each of them.",
    example="2008_000001 0.9 0 0 499 374 in an image of 500 x 375",
)
