"""Text files, line by line; images, people, numbers and boxes wherever they are named."""

from evaluator.catalogue.registry import error, warning

NOT_UTF8 = error(
    "not_utf8",
    "A text file that is not plain text",
    "Byte 0x{byte:02x} is not part of UTF-8 text.",
    "Write the file as plain ASCII or UTF-8 text.",
)
BYTE_ORDER_MARK = warning(
    "byte_order_mark",
    "A byte order mark",
    "The file begins with a byte order mark, which was passed over.",
)
EMPTY_FILE = warning(
    "empty_file",
    "A file without a line",
    "The file holds no results; the class counts as entered all the same.",
    "Leave the file out if the class is not meant to be entered.",
)
LINE_TOO_LONG = error(
    "line_too_long",
    "A line that is too long",
    "The line has {length:,} characters, more than {limit:,}.",
    "Expected is one result a line: {format}.",
)
TOO_MANY_LINES = error(
    "too_many_lines",
    "Too many lines",
    "The file has {count:,} lines, more than {limit:,}.",
    "Keep the most confident results.",
)
TOO_MANY_DETECTIONS = error(
    "too_many_detections",
    "Too many detections in one image",
    "Image {image} has {count:,} detections of this class, more than {limit:,}.",
    "Keep the most confident ones.",
)
WRONG_NUMBER_OF_FIELDS = error(
    "wrong_number_of_fields",
    "A line with too many or too few fields",
    "Found {found}, expected {expected}: {format}.",
)
NOT_A_NUMBER = error(
    "not_a_number",
    "Something that is no number",
    "The {field} is {found}, which is not a number.",
    "Write decimal numbers such as 0.75, -12 or 1e-5.",
)
NOT_FINITE = error(
    "not_finite",
    "NaN or infinity",
    "The {field} is {found}; results need finite numbers.",
    "Replace it by a number, or leave the line out.",
)
NUMBER_OUT_OF_RANGE = error(
    "number_out_of_range",
    "An absurdly large number",
    "The {field} is {found}, beyond ±{limit:g}.",
    "Scale it down; only the order of confidences matters.",
)
BAD_OBJECT_INDEX = error(
    "bad_object_index",
    "An object index that is no whole number",
    "The object index is {found}; expected is a whole number from 1 on.",
    "Take it from the image set file.",
)
UNKNOWN_IMAGE = error(
    "unknown_image",
    "An image that is not in the test set",
    "{image} is not an image of the {task} test set of {described}{hint}.",
    "Take the identifiers from the image set file.",
)
UNKNOWN_PERSON = error(
    "unknown_person",
    "A person that is not in the test set",
    "Object {object} of image {image} is not a person of the {task} test set{listed}.",
    "Take image and object index from the image set file.",
)
REPEATED_IMAGE = error(
    "repeated_image",
    "Two confidences for one image",
    "Image {image} has a confidence in line {first} already.",
    "Keep one line an image.",
)
REPEATED_PERSON = error(
    "repeated_person",
    "Two confidences for one person",
    "Object {object} of image {image} has a confidence in line {first} already.",
    "Keep one line a person.",
)
IMAGES_WITHOUT_CONFIDENCE = warning(
    "images_without_confidence",
    "Images without a confidence",
    "{count} of {all:,} in the test set {has} no line (the first is {first}); they rank last.",
)
PERSONS_WITHOUT_CONFIDENCE = warning(
    "persons_without_confidence",
    "People without a confidence",
    "{count} of {all:,} in the test set {has} no line (the first is object {object} of image {first}); they rank last.",
)
BOX_UPSIDE_DOWN = warning(
    "box_upside_down",
    "Boxes with left and right, or top and bottom, exchanged",
    "{count} (the first here) with right < left or bottom < top; these cannot match anything.",
    "Write left, top, right, bottom; not width and height.",
)
BOX_OUTSIDE_IMAGE = warning(
    "box_outside_image",
    "Boxes that lie outside their image",
    "{count} (the first here) wholly outside of the image; these cannot match anything.",
    "Coordinates count from 1 in pixels of the original image.",
)
