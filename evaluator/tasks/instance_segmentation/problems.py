"""Instance segmentation files, with run-length encodings (RLE)."""

from vocboard.evaluator.problems.registry import error, warning

_ENCODE = "With pycocotools: `mask.encode(numpy.asfortranarray(region.astype(numpy.uint8)))['counts'].decode()`."

NOT_RLE = error(
    "not_rle",
    "Not an RLE",
    "The region {found} is not a compressed COCO RLE: {reason}.",
    _ENCODE,
    example="2008_000001 0.9 [12, 5, 700], with uncompressed run lengths",
)
RLE_WRONG_SIZE = error(
    "rle_wrong_size",
    "Wrong region size",
    "The runs of this region have {found:,} pixels; the image has {expected:,} ({width} x {height}).",
    "Resize the region to the test image, and encode it column by column.",
    example="a region of 513 x 513 pixels for an image of 500 x 375",
)
RLE_TOO_LONG = error(
    "rle_too_long",
    "A region with too many runs",
    "The RLE of this region has {length:,} characters, more than {limit:,}.",
    "Remove noise from the region.",
    example="a region of every second pixel",
)
TOO_MANY_RUNS = error(
    "too_many_runs",
    "Too many runs in a file",
    "The regions up to this line have more than {limit:,} runs of pixels.",
    "Keep the most confident regions, and remove noise from them.",
    example="a mask of noise for every image",
)
EMPTY_REGIONS = warning(
    "empty_regions",
    "Empty regions",
    "{count} (the first here) without pixels. An empty region cannot match anything.",
    "Remove regions without pixels.",
    example="the RLE of a mask that is 0 everywhere",
)
