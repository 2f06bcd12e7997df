"""Public functions to score and validate results, in files or in memory."""

import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

from vocboard.evaluator.arrays.boxes import BoxFormat
from vocboard.evaluator.evaluation import Confusions, score_results
from vocboard.evaluator.ground_truth import GroundTruth
from vocboard.evaluator.image_sets import ImageSets
from vocboard.evaluator.problems import has_errors
from vocboard.evaluator.public_api.errors import InvalidResultsError, warning_of
from vocboard.evaluator.public_api.inputs import (
    AnyEdition,
    AnyPath,
    load_edition,
    matching,
    of_image_set,
    read_image_sets,
)
from vocboard.evaluator.public_api.results import EvaluationResult, ValidationResult
from vocboard.evaluator.public_api.statistics import Statistics
from vocboard.evaluator.reading.arrays import read_arrays
from vocboard.evaluator.reading.results import ReadResults, read_results
from vocboard.evaluator.results import SegmentationSink
from vocboard.evaluator.rules import Edition

AnyResults = AnyPath | Mapping[str, object]


def evaluate(
    results: AnyResults,
    edition: AnyEdition,
    ground_truth: GroundTruth,
    *,
    box_format: BoxFormat | None = None,
    first_label: int = 1,
    segmentation_classes: Sequence[str] | None = None,
) -> EvaluationResult:
    """Score results as the server does.

    Args:
        results: path of an archive or directory of result files; or a mapping of competitions to arrays, which
            docs/python.md describes for each task. Scores are the same for files and for results in memory.
        edition: name, file or object.
        ground_truth: from `read_ground_truth`; names of result files contain its image set.
        box_format: format of boxes in memory. `"voc"`: left, top, right, bottom, pixels counted from 1, the right
            column and bottom row included. `"xyxy"`, `"xywh"`, `"cxcywh"`: measured from 0, as in torchvision and COCO.
            Default: `"voc"`, with a warning for boxes by image, which usually come from torchvision.
        first_label: number of the first class if labels in memory are numbers. Default: 1; 0 is background, as in label
            maps.
        segmentation_classes: classes entered for segmentation. Default: all classes of the edition.

    Warns:
        ResultsWarning: the results have warnings, for example boxes that seem to have another format.

    Raises:
        InvalidResultsError: the results are invalid; lists all problems. A `ValueError`.
        ValueError: the ground truth belongs to another edition, or an argument is invalid.
        OSError: the path cannot be read.
    """
    if not isinstance(ground_truth, GroundTruth):
        given = type(ground_truth).__name__
        raise TypeError(f"ground_truth is a {given}; give what vocboard.read_ground_truth(tree, edition) returns")
    chosen = matching(load_edition(edition), ground_truth.image_sets)
    confusions = Confusions(ground_truth)
    read = _read(
        results,
        chosen,
        ground_truth.image_sets,
        box_format=box_format,
        first_label=first_label,
        segmentation_classes=segmentation_classes,
        sink=confusions.add,
    )
    if has_errors(read.problems):
        raise InvalidResultsError(read.problems)
    warning = warning_of(read)
    if warning is not None:
        warnings.warn(warning, stacklevel=2)
    statistics = Statistics(read.results, chosen, ground_truth, confusions)
    return EvaluationResult(score_results(read, chosen, ground_truth, confusions), statistics)


def validate(
    results: AnyResults,
    edition: AnyEdition,
    image_sets: ImageSets | GroundTruth | AnyPath | None = None,
    *,
    image_set: str | None = None,
    box_format: BoxFormat | None = None,
    first_label: int = 1,
    segmentation_classes: Sequence[str] | None = None,
) -> ValidationResult:
    """Validate results as the server does, without scoring them.

    Args:
        results: as in `evaluate`.
        edition: name, file or object.
        image_sets: from `read_image_sets` or `read_ground_truth`, or the path of a tree. Without them, image
            identifiers and sizes are not checked.
        image_set: image set of the results, for example `"val"`. Default: that of `image_sets`, or the edition's.
        box_format: as in `evaluate`.
        first_label: as in `evaluate`.
        segmentation_classes: as in `evaluate`.

    Returns:
        A report with `is_valid` and `problems`.

    Raises:
        GroundTruthError: the tree at the path `image_sets` is invalid.
        ValueError: the image sets belong to another edition, or an argument is invalid.
        OSError: a path cannot be read.
    """
    chosen = of_image_set(load_edition(edition), image_set)
    known: ImageSets | None
    if isinstance(image_sets, GroundTruth):
        known = image_sets.image_sets
    elif isinstance(image_sets, str | os.PathLike):
        known = read_image_sets(image_sets, chosen)
    else:
        known = image_sets
    if known is not None:
        if image_set is not None and not any(name == image_set for _, name in known.sets):
            raise ValueError(f"image_sets has no image set {image_set!r}")
        chosen = matching(chosen, known)
    read = _read(
        results,
        chosen,
        known,
        box_format=box_format,
        first_label=first_label,
        segmentation_classes=segmentation_classes,
    )
    return ValidationResult.of(chosen.name, read.results, read.problems, items_checked=known is not None)


def _read(
    results: AnyResults,
    edition: Edition,
    image_sets: ImageSets | None,
    *,
    box_format: BoxFormat | None,
    first_label: int,
    segmentation_classes: Sequence[str] | None,
    sink: SegmentationSink | None = None,
) -> ReadResults:
    if isinstance(results, str | os.PathLike):
        return read_results(
            Path(results),
            edition,
            image_sets,
            segmentation_classes=segmentation_classes,
            segmentation_sink=sink,
        )
    return read_arrays(
        results,
        edition,
        image_sets,
        box_format=box_format,
        first_label=first_label,
        segmentation_classes=segmentation_classes,
        segmentation_sink=sink,
    )
