"""Converts label maps in greyscale PNG, coloured PNG and NumPy arrays to those of a competition and back."""

import io
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from vocboard.evaluator.archives import TREE_LIMITS, ArchiveError, members
from vocboard.evaluator.conversion.colour_map import label_colour_map
from vocboard.evaluator.conversion.detections import Converted
from vocboard.evaluator.conversion.names import ImageNames, file_stem
from vocboard.evaluator.conversion.painting import map_files
from vocboard.evaluator.conversion.problems import (
    ConversionError,
    ProblemCollector,
    needs_directory,
    note_repeated_file,
)
from vocboard.evaluator.conversion.result_archive import competition_of, files_of, image_set_of, write_results
from vocboard.evaluator.editions import Edition, Task
from vocboard.evaluator.image_sets import ImageSets
from vocboard.evaluator.metrics.confusion_matrix import VOID
from vocboard.evaluator.problems.archives import NOT_AN_ARCHIVE
from vocboard.evaluator.tasks.segmentation.png import PngError, check_rows, read_indexed
from vocboard.evaluator.whole_output import whole_directory

_MAX_PIXELS = 50_000_000
LABEL_MAP_FORMATS: Mapping[str, str] = {"greyscale": ".png", "colour": ".png", "numpy": ".npy"}

LabelMap = NDArray[np.uint8]


class _MapError(Exception):
    """A file is not a label map; the arguments are a code, what was found, and how to fix it."""


def maps_to_results(
    source_format: str,
    source: Path,
    output: Path,
    *,
    edition: Edition,
    competition: str,
    image_sets: ImageSets,
    progress: Callable[[int], None] | None = None,
) -> Converted:
    """Write the label maps of a segmentation competition from label maps in another format.

    Args:
        source_format: one of `LABEL_MAP_FORMATS`.
        source: directory or archive with a file for each image, `<image>.png` or `<image>.npy`.
        output: archive to write; not written if there is an error.
        edition: the competition's edition.
        competition: its key.
        image_sets: of the edition.
        progress: called with the number of label maps done.

    Raises:
        ConversionError: the input is invalid; lists all problems, and nothing is written.
        OSError: a file cannot be read or written.
    """
    chosen = competition_of(edition, competition, Task.SEGMENTATION)
    image_set = image_set_of(chosen, image_sets)
    sizes, names, problems = image_set.sizes_by_image(), ImageNames(image_set.images), ProblemCollector()
    maps: dict[str, LabelMap] = {}
    invalid: set[str] = set()
    for name, content in _files(source, LABEL_MAP_FORMATS[source_format]):
        image = names.find(file_stem(name))
        if image is None:
            problems.add(
                "unknown_image", "files of images that are not in the image set", "Leave them out.",
                value=file_stem(name), noun="file",
            )  # fmt: skip
            continue
        if image in maps or image in invalid:
            note_repeated_file(image, name, problems)
            continue
        try:
            maps[image] = _decode(source_format, content, len(edition.classes))
        except _MapError as error:
            problems.add(*error.args, file=name, noun="file")
            invalid.add(image)
            continue
        if sizes is not None and maps[image].shape[::-1] != sizes[image]:
            width, height = maps[image].shape[::-1]
            problems.add(
                "wrong_size",
                "label maps of another size than their image",
                "Scale them back to the size of the image, without interpolation.",
                value=f"{name}: {width} x {height}, expected {sizes[image][0]} x {sizes[image][1]}", noun="file",
            )  # fmt: skip
        if progress is not None:
            progress(1)
    for image in image_set.images:
        if image not in maps and image not in invalid:
            file = f"<image>{LABEL_MAP_FORMATS[source_format]}"
            remedy = f"A segmentation competition needs a map for every image: in this format, {file}."
            problems.add("missing_map", "images without a label map", remedy, value=image, noun="image")
    problems.raise_if_errors()
    files = map_files(chosen, ((image, maps[image]) for image in image_set.images))
    return Converted(len(maps), edition.classes, write_results(output, edition, files, image_sets, [competition]))


def maps_from_results(
    target_format: str,
    results: Path,
    output: Path,
    *,
    edition: Edition,
    competition: str,
    image_sets: ImageSets,
    progress: Callable[[int], None] | None = None,
) -> int:
    """Write a directory with a file for each image from the label maps of result files; return the number of files.

    Raises:
        ConversionError: the result files are not valid, or there are none of the competition.
        OutputExistsError: the directory exists and was not written by this function.
        OSError: a file cannot be read or written.
    """
    chosen = competition_of(edition, competition, Task.SEGMENTATION)
    count = 0
    with whole_directory(output, "label maps") as directory:
        for name, content in files_of(results, edition, chosen, image_sets):
            labels = read_indexed(content, None).labels
            path = directory / f"{name.image}{LABEL_MAP_FORMATS[target_format]}"
            path.write_bytes(_encode(target_format, labels))
            count += 1
            if progress is not None:
                progress(1)
    return count


def _files(source: Path, suffix: str) -> Iterator[tuple[str, bytes]]:
    try:
        for member in members(source, TREE_LIMITS):
            if member.name.lower().endswith(suffix):
                yield member.name, member.read()
    except ArchiveError as error:
        if error.problem.code == NOT_AN_ARCHIVE.code:
            raise needs_directory(source, f"a file for each image, <image>{suffix}") from error
        raise ConversionError([error.problem]) from error


def _decode(source_format: str, content: bytes, classes: int) -> LabelMap:
    labels = _from_numpy(content) if source_format == "numpy" else _from_png(content, source_format)
    strange = np.unique(labels[labels > classes])
    if len(strange):
        is_void = strange.tolist() == [VOID]
        raise _MapError(
            "void_label" if is_void else "unknown_label",
            f"label {strange[0]}, expected 0 (background) to {classes}",
            "Give every pixel a class; void (255) is for ground truth only." if is_void else
            "Number classes in the edition's order, from 1 on.",
        )  # fmt: skip
    return labels.astype(np.uint8)


def _from_numpy(content: bytes) -> NDArray[np.int64]:
    try:
        array = np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise _MapError("not_numpy", "files that are not NumPy arrays", "Write them with numpy.save.") from error
    squeezed = array.squeeze()
    if squeezed.ndim != 2 or not (np.issubdtype(array.dtype, np.integer) or array.dtype == np.bool_):
        found = f"an array of shape {array.shape} and type {array.dtype}"
        raise _MapError("bad_array", found, "Expected whole numbers, (height, width): the argmax over classes.")
    if squeezed.size and squeezed.min() < 0:
        raise _MapError("negative_label", f"label {squeezed.min()}", "Labels count from 0, which is background.")
    labels: NDArray[np.int64] = squeezed.astype(np.int64)
    return labels


def _from_png(content: bytes, source_format: str) -> NDArray[np.int64]:
    try:
        with Image.open(io.BytesIO(content), formats=("PNG",)) as image:
            if image.width * image.height > _MAX_PIXELS:
                raise _MapError("too_large", f"{image.width} x {image.height} pixels", "Use the size of the image.")
            is_colour = source_format == "colour"
            if not is_colour and image.mode not in {"L", "P", "I", "I;16", "1"}:
                found = f"a PNG of mode {image.mode}, expected greyscale"
                raise _MapError("not_greyscale", found, "Use the format colour for the VOC colour map.")
            check_rows(content)
            pixels = np.array(image.convert("RGB") if is_colour else image)
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise _MapError("not_png", "files that are not readable PNG", "Write them again.") from error
    except PngError as error:
        raise _MapError("damaged_png", f"a PNG that is damaged: {error}", "Write it again.") from error
    return _labels_of_colours(pixels) if is_colour else pixels.astype(np.int64)


def _labels_of_colours(pixels: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return the (height, width) labels of a (height, width, 3) picture in the VOC colour map."""
    weights = np.array([1 << 16, 1 << 8, 1])
    known = label_colour_map().astype(np.int64) @ weights
    order = np.argsort(known)
    colours = pixels.astype(np.int64) @ weights
    place = np.minimum(np.searchsorted(known[order], colours), len(known) - 1)
    labels = order[place]
    strange = colours != known[labels]
    if strange.any():
        red, green, blue = pixels[strange][0].tolist()
        raise _MapError(
            "unknown_colour",
            f"{np.count_nonzero(strange):,} pixels of colours that the VOC colour map does not have, such as "
            f"({red}, {green}, {blue})",
            "Write them without smoothing and not as JPEG; `vocboard convert colour-map 256` prints the colours.",
        )
    return np.asarray(labels, dtype=np.int64)


def _encode(target_format: str, labels: LabelMap) -> bytes:
    content = io.BytesIO()
    if target_format == "numpy":
        np.save(content, labels)
    else:
        pixels = label_colour_map()[labels] if target_format == "colour" else labels
        Image.fromarray(pixels).save(content, "PNG")
    return content.getvalue()
