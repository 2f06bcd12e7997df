"""Problems that only arrays can have.

They are not in the catalogue, because uploads cannot have them.
"""

from vocboard.evaluator.problems import Kind, Severity


def _error(code: str, title: str, found: str, remedy: str = "") -> Kind:
    return Kind(code, Severity.ERROR, title, found, remedy, example="")


def _warning(code: str, title: str, found: str, remedy: str = "") -> Kind:
    return Kind(code, Severity.WARNING, title, found, remedy, example="")


NO_RESULTS = _error(
    "no_results",
    "No results",
    "There are no results for any competition of {edition}.",
    "Expected a mapping of competitions to their results: {expected}.",
)
UNKNOWN_COMPETITION = _error(
    "unknown_competition",
    "A competition that the edition does not have",
    "{found} is not a competition of {edition}, which has {expected}.",
)
UNKNOWN_CLASS = _error(
    "unknown_class",
    "A class that the competition does not have",
    "{found} is not {a_noun} of {competition}: {expected}.",
)
UNKNOWN_LABEL = _error(
    "unknown_label",
    "Labels that the competition does not have",
    "{name} has {count} (the first is {found}, at index {first}) that {is_not_class}: {expected}.",
)
WRONG_STRUCTURE = _error("wrong_structure", "Something else than expected", "Found {found}; expected {expected}.")
MISSING_KEYS = _error("missing_keys", "Missing keys", "{missing} {is_missing} missing; it has {found}.")
NOT_AN_ARRAY = _error(
    "not_an_array",
    "Something that is not an array",
    "{name} cannot be read as an array: {reason}.",
)
WRONG_TYPE = _error("wrong_type", "An array of another type", "{name} is an array of {found}; expected {expected}.")
MASKED = _error(
    "masked_values",
    "Masked values",
    "{name} is a masked array in which {count} {is_masked} masked.",
    "Leave these rows out of all arrays, or fill them.",
)
WRONG_SHAPE = _error("wrong_shape", "An array of another shape", "{name} has the shape {found}; expected {expected}.")
NOT_FINITE = _error(
    "not_finite",
    "NaN or infinity",
    "{name} has {count} (the first is {found}, at index {first}); results need finite numbers.",
    "Replace them by numbers, or leave these rows out.",
)
NUMBER_OUT_OF_RANGE = _error(
    "number_out_of_range",
    "Absurdly large numbers",
    "{name} has {count} beyond ±{limit:g} (the first is {found:g}, at index {first}).",
    "Scale them down; only the order of scores matters.",
)
SCORE_OUT_OF_RANGE = _error(
    "confidence_out_of_range",
    "Scores outside the challenge's range",
    "{name} has {count} outside of {least:g} to {greatest:g} (the first is {found:g}, at index {first}).",
    "Map scores into that range without changing their order.",
)
NUMBERS_AS_IMAGES = _error(
    "numbers_as_images",
    "Numbers in place of image identifiers",
    "{name} holds numbers; identifiers are text, leading zeros included{example}.",
)
UNKNOWN_IMAGES = _error("unknown_image", "Unknown images", "{name} has {count}: {message}")
BAD_OBJECT_INDEX = _error(
    "bad_object_index",
    "Object indices below 1",
    "{name} has {count} below 1 (the first is {found}, at index {first}); objects count from 1.",
    "Take them from the image set.",
)
UNKNOWN_PEOPLE = _error(
    "unknown_person",
    "People who are not in the image set",
    "{count} (the first is object {object} of image {image}, at index {first}) not in the image set.",
    "Take image and object index from the image set.",
)
REPEATED_ITEMS = _error(
    "repeated_image",
    "Several scores for one image or person",
    "{count} a second score (the first is {item}, at index {first}).",
    "Keep one score for each.",
)
ITEMS_NOT_KNOWN = _error(
    "image_set_needed",
    "No image set to tell what is meant",
    "Without image identifiers, results must be in the order of the image set, which is not at hand.",
    "Give the image sets, or name images.",
)
ITEMS_WITHOUT_SCORE = _warning(
    "images_without_confidence",
    "Images or people without a score",
    "{count} of {all:,} in the image set {has} no score (the first is {item}) and {rank} last.",
    "Give every one a score, however low.",
)
EMPTY = _warning("empty_file", "No results", "There are no results here; the class still counts as entered.")
CLASSES_WITHOUT_RESULTS = _warning(
    "empty_file", "No results", "There are no results of {count}: {names}. They still count as entered."
)
TOO_MANY_DETECTIONS = _error(
    "too_many_detections",
    "Too many detections in one image",
    "Image {image} has {count:,} detections of this class, more than {limit:,}.",
    "Keep the most confident ones.",
)
BOXES_UPSIDE_DOWN = _warning(
    "box_upside_down",
    "Boxes with sides exchanged",
    "{count} (the first in image {first}) with right < left or bottom < top, which cannot match anything.",
    "Boxes are left, top, right, bottom; of x, y, width, height say box_format='xywh'.",
)
NEGATIVE_SIZES = _warning(
    "box_upside_down",
    "Boxes of negative width or height",
    "{count} (the first in image {first}) with negative width or height, which cannot match anything.",
    "Boxes of two corners have box_format='xyxy'.",
)
BOXES_AS_FRACTIONS = _warning(
    "boxes_as_fractions",
    "Boxes that seem to be fractions of the image",
    "{count} with no number above 1.5, which seem to be fractions of the image's width and height.",
    "Multiply x by the width and y by the height of the image; no box_format does that.",
)
BOXES_OF_OTHER_FORMAT = _warning(
    "box_format_unlikely",
    "Boxes that seem to have another format",
    "{count} that fit their images as {likely}, and only {fitting} as {stated}.",
    "Say box_format='{form}' if that is what they are.",
)
BOX_FORMAT_NOT_GIVEN = _warning(
    "box_format_not_given",
    "Boxes by image without a format",
    "Boxes by image are read as VOC's: left, top, right, bottom, counted from 1, the last pixel included. Those of "
    "torchvision and torchmetrics are measured from 0.",
    "Say box_format='xyxy' for these, or 'voc'.",
)
MISSING_IMAGES = _warning(
    "images_without_detections",
    "Images without a detection",
    "{count} have no detection of any class; the first is {first}.",
    "Check that the results are complete. For images in which nothing was found, ignore this.",
)
DUPLICATES = _warning(
    "repeated_detections",
    "Detections that are there twice",
    "{count} are there before, with the same image, class, score and box (the first in image {first}). At most one of "
    "them can be right.",
    "Check that results were not added twice.",
)
BOXES_OUTSIDE = _warning(
    "box_outside_image",
    "Boxes outside of their image",
    "{count} (the first in image {first}) wholly outside of the image, which cannot match anything.",
    "Coordinates are pixels of the original image.",
)
BOXES_FROM_ZERO = _warning(
    "zero_based_boxes",
    "Boxes that seem to be measured from 0",
    "{count} (the first in image {first}) with left or top exactly 0, and none below; VOC counts pixels from 1.",
    "If these are measured from 0, say so: box_format='xyxy'.",
)
MISSING_MAPS = _error(
    "missing_label_maps",
    "Images without a label map",
    "{count} of {all:,} in the image set {has} no label map (the first: {first}).",
    "Give one for each image.",
)
WRONG_LABELS = _error(
    "label_out_of_range",
    "Labels that are not classes",
    "{count} labelled {found}; expected 0 for background and 1 to {largest} for the classes.{hint}",
)
WRONG_MAP_SIZE = _error(
    "wrong_map_size",
    "A map of another size than its image",
    "{name} is {found_width} x {found_height} pixels (shape ({found_height}, {found_width})); the image is "
    "{width} x {height}, so the shape must be ({height}, {width}).",
)
TOO_MANY_PARTS = _error("too_many_parts", "Too many parts", "{count:,} parts, more than {limit:,}.")
EMPTY_REGIONS = _warning(
    "empty_regions", "Masks without a pixel", "{count} (the first at index {first}) without a pixel."
)
