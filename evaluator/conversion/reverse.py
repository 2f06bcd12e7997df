"""Converts result files to the formats of other tools."""

from collections.abc import Callable
from pathlib import Path

from vocboard.evaluator.conversion.detection_output import write_detections
from vocboard.evaluator.conversion.detections import FORMATS, from_results
from vocboard.evaluator.conversion.label_map_formats import LABEL_MAP_FORMATS, maps_from_results
from vocboard.evaluator.conversion.layouts import layouts_from_results
from vocboard.evaluator.conversion.names import NamesById
from vocboard.evaluator.conversion.result_archive import competition_of, image_set_of
from vocboard.evaluator.editions import Edition, Task
from vocboard.evaluator.image_sets import ImageSets
from vocboard.evaluator.problems import Problem

LAYOUT, COCO_GROUND_TRUTH = "layout", "coco-ground-truth"
REVERSIBLE = (*FORMATS, *LABEL_MAP_FORMATS, LAYOUT)


def has_other_ids(name: str, *, reverse: bool) -> bool:
    """Return whether a conversion uses lists of images and categories."""
    return name in FORMATS or (name == COCO_GROUND_TRUTH and reverse)


def convert_from_results(
    target_format: str,
    results: Path,
    output: Path,
    *,
    edition: Edition,
    competition: str,
    image_sets: ImageSets,
    images: NamesById | None = None,
    categories: NamesById | None = None,
    progress: Callable[[int], None] | None = None,
) -> tuple[int, tuple[Problem, ...]]:
    """Write the results of one competition in another tool's format; nothing is written if there is an error.

    Args:
        target_format: one of `REVERSIBLE`.
        results: archive or directory of result files.
        images: image names by id, for detections: the ids that are written. Default: numbers or names of the edition's.
        categories: category names by id, likewise.

    Returns:
        The number of layouts, label maps or detections written, and warnings.

    Raises:
        ConversionError: the input is invalid; lists all problems, and nothing is written.
        ValueError: the format is not one of these.
        OSError: a file cannot be read or written.
    """
    if target_format == LAYOUT:
        return layouts_from_results(results, output, edition, competition, image_sets), ()
    if target_format in LABEL_MAP_FORMATS:
        count = maps_from_results(
            target_format,
            results,
            output,
            edition=edition,
            competition=competition,
            image_sets=image_sets,
            progress=progress,
        )
        return count, ()
    if target_format not in FORMATS:
        raise ValueError(f"results cannot be converted to {target_format!r}")
    of_set = image_set_of(competition_of(edition, competition, Task.DETECTION), image_sets)
    found, _ = from_results(results, edition, competition, image_sets)
    warnings = write_detections(
        target_format, found, output, classes=edition.classes, images=of_set.images, sizes=of_set.sizes_by_image(),
        listed_images=images, listed_categories=categories,
    )  # fmt: skip
    return len(found), warnings
