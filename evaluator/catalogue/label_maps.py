"""Label maps, in PNG."""

from evaluator.catalogue.registry import error, warning

NOT_A_PNG = error(
    "not_a_png",
    "A label map that is no PNG",
    "The file {looks}; expected is a PNG.",
    "Save label maps as 8-bit PNG with a palette.",
)
PNG_NOT_INDEXED = error(
    "png_not_indexed",
    "A PNG without an 8-bit palette",
    "The PNG is {found}; expected is 8 bits a pixel with a palette.",
    "With Pillow: `image = Image.fromarray(labels.astype(np.uint8), mode='P'); image.putpalette(voc_colours)`.",
)
PNG_WRONG_SIZE = error(
    "png_wrong_size",
    "A label map of another size than its image",
    "The label map is {width} x {height} pixels; the image is {expected_width} x {expected_height}.",
    "Scale it back to the size of the test image, without interpolation.",
)
PNG_TOO_LARGE = error(
    "png_too_large",
    "An absurdly large label map",
    "The label map is {width} x {height} pixels, beyond {limit:,} pixels.",
    "Save it in the size of the test image.",
)
PNG_UNREADABLE = error(
    "png_unreadable",
    "A PNG that cannot be read",
    "The PNG is damaged: {reason}.",
    "Save and pack it again.",
)
INDEX_OUT_OF_RANGE = error(
    "index_out_of_range",
    "A label that is no class",
    "{count} {has} the value {found}; expected are 0 (background) to {largest} ({largest_class}).",
    "Label every pixel; {hint}.",
)
MISSING_MAPS = error(
    "missing_maps",
    "Images without a label map",
    "{competition} has no label map for {count} of {all:,}: {first}.",
    "A segmentation competition needs a map for every image of its test set.",
)
UNUSUAL_COLOUR_MAP = warning(
    "unusual_colour_map",
    "Another colour map than VOC's",
    "{count} (this one first) {has} another palette than the VOC colour map; only the indices are scored.",
    "Check that the indices, not the colours, are the classes.",
)
