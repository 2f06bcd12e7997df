"""Label maps, in PNG."""

from vocboard.evaluator.problems.registry import error, warning

_SAVE = "With Pillow: `image = Image.fromarray(labels.astype(np.uint8), mode='P'); image.putpalette(voc_colours)`."

NOT_A_PNG = error(
    "not_a_png",
    "A label map that is no PNG",
    "The file {looks}; expected is a PNG.",
    "Save label maps as 8-bit PNG with a palette; a JPEG under another name does not hold the labels.",
    example="comp5_test_cls/2008_000001.png, which is a JPEG",
)
PNG_RGB = error(
    "png_rgb",
    "A label map of colours instead of indices",
    "The PNG is {found}; expected is 8 bits a pixel with a palette, each pixel the index of its class.",
    f"Save the indices before they are turned into colours. {_SAVE}",
    example="a label map saved by `plt.imsave` or `cv2.imwrite` after colouring",
)
PNG_GREYSCALE = warning(
    "png_greyscale",
    "Label maps without a palette",
    "{count} (this one first) {has} 8-bit grey values instead of a palette; the values were read as class indices.",
    f"They are scored as they are. To show them in colour, add the VOC palette. {_SAVE}",
    example="a label map saved by `Image.fromarray(labels.astype(np.uint8)).save(...)`",
)
PNG_DEPTH = error(
    "png_depth",
    "A label map with other than 8 bits a pixel",
    "The PNG is {found}; expected are 8 bits a pixel.",
    "Save it with 8 bits a pixel; Pillow: `image.save(name, bits=8)`. Programs that make PNG smaller change this.",
    example="a label map that went through `optipng`, or was saved with few colours",
)
PNG_WRONG_SIZE = error(
    "png_wrong_size",
    "A label map of another size than its image",
    "The label map is {width} x {height} pixels; the image is {expected_width} x {expected_height}.",
    "Scale it back to the size of the test image, without interpolation.",
    example="a map of 513 x 513 pixels for an image of 500 x 375",
)
PNG_TOO_LARGE = error(
    "png_too_large",
    "An absurdly large label map",
    "The label map is {width} x {height} pixels, beyond {limit:,} pixels.",
    "Save it in the size of the test image.",
    example="a map of 100,000 x 100,000 pixels",
)
PNG_UNREADABLE = error(
    "png_unreadable",
    "A PNG that cannot be read",
    "The PNG is damaged: {reason}.",
    "Save and pack it again.",
    example="a PNG whose writing was broken off",
)
INDEX_OUT_OF_RANGE = error(
    "index_out_of_range",
    "A label that is no class",
    "{count} {has} the value {found}; expected are 0 (background) to {largest} ({largest_class}).",
    "Label pixels by the edition's order of classes, from 1 on.",
    example="a pixel of value 90, the number of a class of another data set",
)
VOID_LABEL = error(
    "void_label",
    "Pixels left void",
    "{count} {has} the value 255 (void), which is for ground truth only; expected are 0 (background) to {largest} "
    "({largest_class}).",
    "Give every pixel a class, or 0 where there is none.",
    example="a map with the white borders of the ground truth",
)
MISSING_MAPS = error(
    "missing_maps",
    "Images without a label map",
    "{competition} has no label map for {count} of {all:,}: {first}.",
    "A segmentation competition needs a map for every image of its test set.",
    example="maps for the images of val in place of test",
)
UNUSUAL_COLOUR_MAP = warning(
    "unusual_colour_map",
    "Another colour map than VOC's",
    "{count} (this one first) {has} another palette than the VOC colour map; only the indices are scored.",
    "Check that the indices, not the colours, are the classes.",
    example="label maps with a palette of greys",
)
