"""Scoring and checking results, in files or in memory."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from vocboard.evaluator.arrays.boxes import BoxFormat
from vocboard.evaluator.arrays.reader import read_arrays
from vocboard.evaluator.evaluation import Confusions, score_results
from vocboard.evaluator.ground_truth import GroundTruth
from vocboard.evaluator.image_sets import ImageSets
from vocboard.evaluator.problems import has_errors
from vocboard.evaluator.public_api.errors import InvalidResultsError
from vocboard.evaluator.public_api.inputs import (
    AnyEdition,
    AnyPath,
    load_edition,
    matching,
    of_image_set,
    read_image_sets,
)
from vocboard.evaluator.public_api.results import EvaluationResult, ValidationResult
from vocboard.evaluator.reading import ReadResults, read_results
from vocboard.evaluator.rules import Edition
from vocboard.evaluator.tasks.format import SegmentationSink

AnyResults = AnyPath | Mapping[str, object]


def evaluate(
    results: AnyResults,
    edition: AnyEdition,
    ground_truth: GroundTruth,
    *,
    box_format: BoxFormat = "voc",
    first_label: int = 1,
    segmentation_classes: Sequence[str] | None = None,
) -> EvaluationResult:
    """Score results as the server does.

    Args:
        results: path of an archive or directory of result files; or results in memory, a mapping of competitions to
            arrays. What the arrays of each task are is in docs/python.md. Equal results have equal scores, whether they
            are in files or in memory.
        edition: its name, file or object.
        ground_truth: as `read_ground_truth` returns it; result files are named for its image set.
        box_format: of boxes in memory. `"voc"`: left, top, right, bottom, pixels counted from 1, the right column and
            bottom row included. `"xyxy"`, `"xywh"`, `"cxcywh"`: measured from 0, as torchvision and COCO have them.
        first_label: the number of the first class, where labels in memory are numbers: 1 by default, 0 being
            background as in label maps.
        segmentation_classes: those entered for segmentation; all of the edition's by default.

    Raises:
        InvalidResultsError: something is wrong with the results; with everything that is. A `ValueError`.
        ValueError: the ground truth is another edition's, or an argument is not known.
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
    return EvaluationResult(score_results(read, chosen, ground_truth, confusions))


def validate(
    results: AnyResults,
    edition: AnyEdition,
    image_sets: ImageSets | GroundTruth | AnyPath | None = None,
    *,
    image_set: str | None = None,
    box_format: BoxFormat = "voc",
    first_label: int = 1,
    segmentation_classes: Sequence[str] | None = None,
) -> ValidationResult:
    """Check results as the server does, without scoring them.

    Args:
        results: as in `evaluate`.
        edition: its name, file or object.
        image_sets: as `read_image_sets` or `read_ground_truth` returns them, or the path of a tree; without them,
            image identifiers and sizes are not checked.
        image_set: that the results are for, such as `"val"`; by default that of `image_sets`, or the edition's own.
        box_format: as in `evaluate`.
        first_label: as in `evaluate`.
        segmentation_classes: as in `evaluate`.

    Returns:
        With `is_valid` and `problems`.

    Raises:
        GroundTruthError: something is wrong with the tree at the path `image_sets`.
        ValueError: the image sets are another edition's, or an argument is not known.
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
    box_format: BoxFormat,
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
