"""Regions of instances, as run-length encoding (RLE)."""

from vocboard.evaluator.problems.registry import error, warning

_ENCODE = "With pycocotools: `mask.encode(numpy.asfortranarray(region.astype(numpy.uint8)))['counts'].decode()`."

NOT_RLE = error(
    "not_rle",
    "A region that is not an RLE",
    "The region {found} is not a compressed RLE as COCO has it: {reason}.",
    _ENCODE,
    example="2008_000001 0.9 [12, 5, 700], where the lengths of the runs are not compressed",
)
RLE_WRONG_SIZE = error(
    "rle_wrong_size",
    "A region of another size than its image",
    "The runs of this region have {found:,} pixels; the image has {expected:,} ({width} x {height}).",
    "Scale the region to the size of the test image, and encode it column by column.",
    example="a region of 513 x 513 pixels for an image of 500 x 375",
)
RLE_TOO_LONG = error(
    "rle_too_long",
    "A region with too many runs",
    "The RLE of this region has {length:,} characters, more than {limit:,}.",
    "Leave out regions of noise.",
    example="a region of every second pixel",
)
EMPTY_REGIONS = warning(
    "empty_regions",
    "Regions without a pixel",
    "{count} (the first here) without a pixel, which cannot match anything.",
    "Leave out what has no pixels.",
    example="the RLE of a mask that is 0 everywhere",
)
