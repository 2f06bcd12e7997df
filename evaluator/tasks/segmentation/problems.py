"""Label maps, in PNG."""

from vocboard.evaluator.problems.registry import error, warning

_SAVE = (
    "With Pillow: `image = Image.fromarray(labels.astype(np.uint8), mode='P'); "
    "image.putpalette(vocboard.label_colour_map().tobytes())`."
)

NOT_A_PNG = error(
    "not_a_png",
    "Not a PNG",
    "The file {looks}, expected a PNG.",
    "Save label maps as 8-bit PNG with a palette. A renamed JPEG does not preserve the labels.",
    example="comp5_test_cls/2008_000001.png, which is a JPEG",
)
PNG_RGB = error(
    "png_rgb",
    "Colours instead of class indices",
    "The PNG is {found}, expected 8 bits per pixel with a palette, where each pixel is a class index.",
    f"Save the class indices, not their colours. {_SAVE} From pictures in the VOC colours, "
    "`vocboard convert colour` makes such files.",
    example="a label map saved by `plt.imsave` or `cv2.imwrite` after colouring",
)
PNG_GREYSCALE = warning(
    "png_greyscale",
    "Label maps without a palette",
    "{count} (this one first) {has} 8-bit grey values instead of a palette. The values were read as class indices.",
    f"This does not change the score. To show the maps in colour, add the VOC palette. {_SAVE}",
    example="a label map saved by `Image.fromarray(labels.astype(np.uint8)).save(...)`",
)
PNG_CONVERTED = error(
    "png_converted_to_greyscale",
    "Label maps converted to greyscale",
    "The grey values of {count} (this one first), such as {found}, look like colours of the VOC colour map that were "
    "converted to greyscale.",
    f"Save the class indices, before they are coloured. {_SAVE}",
    example="a label map with a palette, saved after `image.convert('L')` or `cv2.imread(name, cv2.IMREAD_GRAYSCALE)`",
)
PNG_DEPTH = error(
    "png_depth",
    "Wrong number of bits per pixel",
    "The PNG is {found}, expected 8 bits per pixel.",
    f"Save the class indices with 8 bits per pixel and a palette of 256 colours. {_SAVE} "
    "PNG optimisers may change this.",
    example="a label map that went through `optipng`, or was saved with a palette of few colours",
)
PNG_WRONG_SIZE = error(
    "png_wrong_size",
    "Wrong label map size",
    "The label map is {width} x {height} pixels; the image is {expected_width} x {expected_height}.",
    "Resize it to the test image, without interpolation.",
    example="a map of 513 x 513 pixels for an image of 500 x 375",
)
PNG_TOO_LARGE = error(
    "png_too_large",
    "Label map too large",
    "The label map is {width} x {height} pixels, more than {limit:,} in all.",
    "Save it in the size of the test image.",
    example="a map of 100,000 x 100,000 pixels",
)
PNG_UNREADABLE = error(
    "png_unreadable",
    "Unreadable PNG",
    "The PNG is damaged: {reason}.",
    "Save and pack it again.",
    example="a PNG that was not completely written",
)
INDEX_OUT_OF_RANGE = error(
    "index_out_of_range",
    "Label out of range",
    "{count} {has} the value {found}, expected 0 (background) to {largest} ({largest_class}).",
    "Number the classes from 1, in the edition's order.",
    example="a pixel of value 90, the number of a class of another data set",
)
VOID_LABEL = error(
    "void_label",
    "Void pixels",
    "{count} {has} the value 255 (void), which only ground truth may use; expected 0 (background) to {largest} "
    "({largest_class}).",
    "Label every pixel with a class, or with 0 for background.",
    example="a map with the white borders of the ground truth",
)
MISSING_MAPS = error(
    "missing_maps",
    "Images without a label map",
    "{competition} has no label map for {count} of {all:,}: {first}.",
    "Add them: segmentation competitions need a label map for every image of the test set.",
    example="maps for the images of val instead of test",
)
UNUSUAL_COLOUR_MAP = warning(
    "unusual_colour_map",
    "Not the VOC colour map",
    "{count} (this one first) {has} a palette other than the VOC colour map. Only the indices are scored.",
    "Check that the indices are the class numbers.",
    example="label maps with a palette of greys",
)
