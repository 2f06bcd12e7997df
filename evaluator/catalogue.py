"""The catalogue of everything that can be wrong with an upload.

The only place with codes, severities and wordings; documentation is generated from it. No wording may hold anything
derived from the ground truth.
"""

from evaluator.problems import Kind, Severity

CATALOGUE: dict[str, Kind] = {}


def _kind(code: str, severity: Severity, title: str, found: str, remedy: str = "") -> Kind:
    CATALOGUE[code] = Kind(code, severity, title, found, remedy)
    return CATALOGUE[code]


def _error(code: str, title: str, found: str, remedy: str = "") -> Kind:
    return _kind(code, Severity.ERROR, title, found, remedy)


def _warning(code: str, title: str, found: str, remedy: str = "") -> Kind:
    return _kind(code, Severity.WARNING, title, found, remedy)


# The archive

NOT_AN_ARCHIVE = _error(
    "not_an_archive",
    "The upload is not an archive",
    "This is not a tar or zip archive, whatever its name says: it {looks}.",
    "Pack the result files with, for example, `tar czf results.tar.gz results/`; .tar, .tar.gz, .tar.xz, .tar.bz2 and "
    ".zip are read.",
)
DAMAGED_ARCHIVE = _error(
    "damaged_archive",
    "The archive is damaged or incomplete",
    "The archive cannot be read {where}: {reason}.",
    "It may have been cut short on its way; pack and upload it again.",
)
ENCRYPTED_MEMBER = _error(
    "encrypted_member",
    "A file in the archive is encrypted",
    "This file is encrypted.",
    "Pack it without a password.",
)
UNSUPPORTED_COMPRESSION = _error(
    "unsupported_compression",
    "A zip compression that is not read",
    "This file is packed by zip's method {method}; stored and deflated files are read.",
    "Pack it again with an ordinary zip program, or as .tar.gz.",
)
TOO_MANY_MEMBERS = _error(
    "too_many_members",
    "Too many files in the archive",
    "The archive holds more than {limit:,} files and directories.",
    "Leave out everything but the result files.",
)
MEMBER_TOO_LARGE = _error(
    "member_too_large",
    "A file in the archive is too large",
    "This file unpacks to more than {limit}.",
    "Lower the number of results in it, for instance by a threshold on the confidence.",
)
ARCHIVE_TOO_LARGE = _error(
    "archive_too_large",
    "The archive's content is too large",
    "The archive unpacks to more than {limit}.",
    "Leave out everything but the result files, or enter the competitions one by one.",
)
COMPRESSION_RATIO = _error(
    "compression_ratio",
    "Content that is compressed beyond belief",
    "The archive unpacks to more than {ratio:,} times its size, which no real result does.",
    "Pack the result files themselves, or as an uncompressed .tar.",
)
NOT_A_REGULAR_FILE = _error(
    "not_a_regular_file",
    "Something in the archive is not an ordinary file",
    "This is a {what}; only ordinary files are taken.",
    "Put the file itself in its place (tar: `--dereference`) or leave it out.",
)
UNSAFE_NAME = _error(
    "unsafe_name",
    "A file name that leads out of the archive",
    "The name {why}.",
    "Name files relative to the directory they are packed from, such as `results/...`.",
)
DUPLICATE_FILE = _error(
    "duplicate_file",
    "The same results twice",
    "{what} is given twice in the archive: {first} and {second}.",
    "Keep one of them.",
)
IGNORED_FILES = _warning(
    "ignored_files",
    "Files that the operating system put into the archive",
    "{count} of macOS or Windows (such as this one) {was} passed over.",
)
NO_RESULT_FILES = _error(
    "no_result_files",
    "No result file in the archive",
    "The archive holds no result file of {edition}. {found}; {expected}.",
    "Pack result files under the names that the challenge gives them.",
)
UNKNOWN_FILE = _error(
    "unknown_file",
    "A file that is no result file",
    "{name} is not the name of a result file of {edition}; {expected}.",
    "Rename it, or leave it out of the archive.",
)
COMPETITION_NOT_OPEN = _error(
    "competition_not_open",
    "Results for a competition that is not part of this challenge",
    "{count} (this one first) for {competition}, which this challenge does not hold; it holds {open}.",
    "Leave them out, or name them for the competition they are meant for.",
)
MORE_PROBLEMS = _error(
    "more_problems",
    "More of the same",
    "{count} not listed: {counts}.",
)
MORE_WARNINGS = _warning("more_warnings", "More warnings of the same", "{count} not listed: {counts}.")

# Text files, line by line

NOT_UTF8 = _error(
    "not_utf8",
    "A text file that is not plain text",
    "Byte 0x{byte:02x} is not part of UTF-8 text.",
    "Write the file as plain ASCII or UTF-8 text.",
)
BYTE_ORDER_MARK = _warning(
    "byte_order_mark",
    "A byte order mark",
    "The file begins with a byte order mark, which was passed over.",
)
EMPTY_FILE = _warning(
    "empty_file",
    "A file without a line",
    "The file holds no results; the class counts as entered all the same.",
    "Leave the file out if the class is not meant to be entered.",
)
LINE_TOO_LONG = _error(
    "line_too_long",
    "A line that is too long",
    "The line has {length:,} characters, more than {limit:,}.",
    "Expected is one result a line: {format}.",
)
TOO_MANY_LINES = _error(
    "too_many_lines",
    "Too many lines",
    "The file has {count:,} lines, more than {limit:,}.",
    "Keep the most confident results.",
)
TOO_MANY_DETECTIONS = _error(
    "too_many_detections",
    "Too many detections in one image",
    "Image {image} has {count:,} detections of this class, more than {limit:,}.",
    "Keep the most confident ones.",
)
WRONG_NUMBER_OF_FIELDS = _error(
    "wrong_number_of_fields",
    "A line with too many or too few fields",
    "Found {found}, expected {expected}: {format}.",
)
NOT_A_NUMBER = _error(
    "not_a_number",
    "Something that is no number",
    "The {field} is {found}, which is not a number.",
    "Write decimal numbers such as 0.75, -12 or 1e-5.",
)
NOT_FINITE = _error(
    "not_finite",
    "NaN or infinity",
    "The {field} is {found}; results need finite numbers.",
    "Replace it by a number, or leave the line out.",
)
NUMBER_OUT_OF_RANGE = _error(
    "number_out_of_range",
    "An absurdly large number",
    "The {field} is {found}, beyond ±{limit:g}.",
    "Scale it down; only the order of confidences matters.",
)
BAD_OBJECT_INDEX = _error(
    "bad_object_index",
    "An object index that is no whole number",
    "The object index is {found}; expected is a whole number from 1 on.",
    "Take it from the image set file.",
)
UNKNOWN_IMAGE = _error(
    "unknown_image",
    "An image that is not in the test set",
    "{image} is not an image of the {task} test set of {described}{hint}.",
    "Take the identifiers from the image set file.",
)
UNKNOWN_PERSON = _error(
    "unknown_person",
    "A person that is not in the test set",
    "Object {object} of image {image} is not a person of the {task} test set{listed}.",
    "Take image and object index from the image set file.",
)
REPEATED_IMAGE = _error(
    "repeated_image",
    "Two confidences for one image",
    "Image {image} has a confidence in line {first} already.",
    "Keep one line an image.",
)
REPEATED_PERSON = _error(
    "repeated_person",
    "Two confidences for one person",
    "Object {object} of image {image} has a confidence in line {first} already.",
    "Keep one line a person.",
)
IMAGES_WITHOUT_CONFIDENCE = _warning(
    "images_without_confidence",
    "Images without a confidence",
    "{count} of {all:,} in the test set {has} no line (the first is {first}); they rank last.",
)
PERSONS_WITHOUT_CONFIDENCE = _warning(
    "persons_without_confidence",
    "People without a confidence",
    "{count} of {all:,} in the test set {has} no line (the first is object {object} of image {first}); they rank last.",
)
BOX_UPSIDE_DOWN = _warning(
    "box_upside_down",
    "Boxes with left and right, or top and bottom, exchanged",
    "{count} (the first here) with right < left or bottom < top; these cannot match anything.",
    "Write left, top, right, bottom; not width and height.",
)
BOX_OUTSIDE_IMAGE = _warning(
    "box_outside_image",
    "Boxes that lie outside their image",
    "{count} (the first here) wholly outside of the image; these cannot match anything.",
    "Coordinates count from 1 in pixels of the original image.",
)

# Person layouts, XML

XML_SYNTAX = _error(
    "xml_syntax",
    "XML that cannot be read",
    "The file is not well-formed XML: {reason}.",
    "Write well-formed XML in UTF-8, with one <results> element around all <layout> elements.",
)
XML_FORBIDDEN = _error(
    "xml_forbidden",
    "XML with a document type or entities",
    "The file has a document type declaration, which is not read.",
    "Leave it out; plain elements and text are enough.",
)
XML_TOO_DEEP = _error(
    "xml_too_deep",
    "XML elements nested too deeply",
    "Elements are nested more than {limit} deep.",
    "Expected are <results>, <layout>, <part>, <bndbox> and the four sides of the box.",
)
XML_TOO_LARGE = _error(
    "xml_too_large",
    "An XML element with too much in it",
    "There are more than {limit:,} elements in this <{parent}>.",
    "A person has at most one head, two hands and two feet.",
)
XML_TEXT_TOO_LONG = _error(
    "xml_text_too_long",
    "An XML element with too much text",
    "The element {parent} holds more than {limit:,} characters.",
    "Numbers, identifiers and part names are all that is expected.",
)
UNEXPECTED_ELEMENT = _error(
    "unexpected_element",
    "An XML element out of place",
    "Found {found} in {parent}; expected {expected}.",
)
MISSING_ELEMENT = _error(
    "missing_element",
    "An XML element is missing",
    "This <{parent}> has no <{missing}>.",
    "Expected in it: {expected}.",
)
REPEATED_ELEMENT = _error(
    "repeated_element",
    "An XML element is given twice",
    "<{found}> is in this <{parent}> already.",
    "{hint}",
)
UNKNOWN_PART = _error(
    "unknown_part",
    "A part of another kind",
    "The part is {found}; expected {expected}.",
)
TOO_MANY_PARTS = _error(
    "too_many_parts",
    "Too many parts in one layout",
    "This layout has {count:,} parts, more than {limit:,}.",
    "A person has at most one head, two hands and two feet.",
)
REPEATED_LAYOUT = _warning(
    "repeated_layout",
    "More than one layout of a person",
    "{count} (the first here) of a person who has one already; only the first of each is scored.",
    "Give one layout a person.",
)
UNLISTED_PERSON = _warning(
    "unlisted_person",
    "Layouts of people who are not in the test set",
    "{count} (the first here) of a person whom the image set does not list; not scored.",
    "Take image and object index from the image set file.",
)

# Segmentation, PNG

NOT_A_PNG = _error(
    "not_a_png",
    "A label map that is no PNG",
    "The file {looks}; expected is a PNG.",
    "Save label maps as 8-bit PNG with a palette.",
)
PNG_NOT_INDEXED = _error(
    "png_not_indexed",
    "A PNG without an 8-bit palette",
    "The PNG is {found}; expected is 8 bits a pixel with a palette.",
    "With Pillow: `image = Image.fromarray(labels.astype(np.uint8), mode='P'); image.putpalette(voc_colours)`.",
)
PNG_WRONG_SIZE = _error(
    "png_wrong_size",
    "A label map of another size than its image",
    "The label map is {width} x {height} pixels; the image is {expected_width} x {expected_height}.",
    "Scale it back to the size of the test image, without interpolation.",
)
PNG_TOO_LARGE = _error(
    "png_too_large",
    "An absurdly large label map",
    "The label map is {width} x {height} pixels, beyond {limit:,} pixels.",
    "Save it in the size of the test image.",
)
PNG_UNREADABLE = _error(
    "png_unreadable",
    "A PNG that cannot be read",
    "The PNG is damaged: {reason}.",
    "Save and pack it again.",
)
INDEX_OUT_OF_RANGE = _error(
    "index_out_of_range",
    "A label that is no class",
    "{count} {has} the value {found}; expected are 0 (background) to {largest} ({largest_class}).",
    "Label every pixel; {hint}.",
)
MISSING_MAPS = _error(
    "missing_maps",
    "Images without a label map",
    "{competition} has no label map for {count} of {all:,}: {first}.",
    "A segmentation competition needs a map for every image of its test set.",
)
UNUSUAL_COLOUR_MAP = _warning(
    "unusual_colour_map",
    "Another colour map than VOC's",
    "{count} (this one first) {has} another palette than the VOC colour map; only the indices are scored.",
    "Check that the indices, not the colours, are the classes.",
)
