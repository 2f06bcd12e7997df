"""Creates segmentations from detections by painting each box with its class, as the kits' example segmenter does."""

import io
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from vocboard.evaluator.conversion.boxes import ConvertedDetection
from vocboard.evaluator.conversion.detections import Converted, from_results
from vocboard.evaluator.conversion.problems import refused
from vocboard.evaluator.conversion.result_archive import competition_of, image_set_of, write_results
from vocboard.evaluator.editions import Competition, Edition, Task
from vocboard.evaluator.image_sets import ImageSets
from vocboard.evaluator.result_files.names import expected_name
from vocboard.evaluator.tasks.segmentation.png import voc_colours


def segmentations_from_detections(
    results: Path,
    output: Path,
    *,
    edition: Edition,
    detection: str,
    segmentation: str,
    image_sets: ImageSets,
    above: Decimal | None = None,
    progress: Callable[[int], None] | None = None,
) -> Converted:
    """Write the label maps of a segmentation competition from the result files of a detection competition.

    Boxes are painted in the order of the classes, so that later classes overwrite earlier ones, whatever the
    confidence. Source: VOC2010 document, section 9.5.1, create_segmentations_from_detections.

    Args:
        results: archive or directory with the detections.
        output: archive to write; not written if there is an error.
        edition: edition of both competitions.
        detection: key of the competition to read.
        segmentation: key of the competition to write.
        image_sets: image sets of the edition; that of segmentation with the sizes of its images.
        above: paint only detections with a confidence greater than this; None for all.
        progress: called with the number of label maps done.

    Raises:
        ConversionError: the input is invalid; lists all problems, and nothing is written.
        OSError: a file cannot be read or written.
    """
    chosen = competition_of(edition, segmentation, Task.SEGMENTATION)
    sizes = image_set_of(chosen, image_sets).sizes_by_image()
    if sizes is None:
        remedy = "Put SegmentationClass/, Annotations/ or JPEGImages/ into it."
        raise refused("unknown_sizes", "the tree does not say how large its images are", remedy)
    found, _ = from_results(results, edition, detection, image_sets)
    by_image: dict[str, list[ConvertedDetection]] = {image: [] for image in sizes}
    for each in found:
        if each.image in by_image and (above is None or each.confidence > above):
            by_image[each.image].append(each)
    maps = ((image, paint(of_image, sizes[image], edition.classes)) for image, of_image in by_image.items())
    warnings = write_results(output, edition, map_files(chosen, _told(maps, progress)), image_sets, [segmentation])
    return Converted(sum(map(len, by_image.values())), edition.classes, warnings)


def paint(found: Iterable[ConvertedDetection], size: tuple[int, int], classes: tuple[str, ...]) -> NDArray[np.uint8]:
    """Return the (height, width) label map of an image, with boxes rounded to pixels and clipped to the image.

    Args:
        found: detections of one image.
        size: width and height.
        classes: the edition's classes; the first has label 1, and the last is painted last.
    """
    labels = np.zeros((size[1], size[0]), dtype=np.uint8)
    for each in sorted(found, key=lambda each: classes.index(each.label)):
        left, top, right, bottom = (_rounded(side) for side in each.box)
        labels[max(top, 1) - 1 : max(bottom, 0), max(left, 1) - 1 : max(right, 0)] = classes.index(each.label) + 1
    return labels


def map_files(competition: Competition, maps: Iterable[tuple[str, NDArray[np.uint8]]]) -> Iterator[tuple[str, bytes]]:
    """Yield names and contents of label maps as result files: indexed PNG with the VOC colour map."""
    for image, labels in maps:
        yield expected_name(competition, image=image), indexed_png(labels)


def indexed_png(labels: NDArray[np.uint8]) -> bytes:
    """Return a (height, width) label map as a PNG with the VOC colour map."""
    picture = Image.fromarray(labels).convert("L")
    indexed = Image.frombytes("P", picture.size, picture.tobytes())
    indexed.putpalette(voc_colours(256))
    content = io.BytesIO()
    indexed.save(content, "PNG")
    return content.getvalue()


def _rounded(side: Decimal) -> int:
    """Round halves away from zero, as MATLAB does, and limit coordinates far outside of images."""
    limited = max(Decimal(-1), min(side, Decimal(10**6)))
    return int(limited.to_integral_value(rounding="ROUND_HALF_UP"))


def _told(
    maps: Iterable[tuple[str, NDArray[np.uint8]]], progress: Callable[[int], None] | None
) -> Iterator[tuple[str, NDArray[np.uint8]]]:
    for each in maps:
        yield each
        if progress is not None:
            progress(1)
