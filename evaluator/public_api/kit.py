"""Public functions for viewing, conversion and examples."""

from collections.abc import Callable
from pathlib import Path

from vocboard.evaluator.conversion import (
    LABEL_MAP_FORMATS,
    coco_to_tree,
    layouts_to_results,
    maps_to_results,
    segmentations_from_detections,
    to_results,
    tree_to_coco,
)
from vocboard.evaluator.conversion.decimals import decimal
from vocboard.evaluator.conversion.names import NamesById
from vocboard.evaluator.conversion.reverse import (
    COCO_GROUND_TRUTH,
    LAYOUT,
    REVERSIBLE,
    convert_from_results,
    has_other_ids,
)
from vocboard.evaluator.editions import Edition
from vocboard.evaluator.examples.run import METHODS
from vocboard.evaluator.examples.run import example as run_example
from vocboard.evaluator.ground_truth import GroundTruth
from vocboard.evaluator.ground_truth.edition_of_tree import UnclearEditionError, edition_name_of_tree
from vocboard.evaluator.image_sets import ImageSets
from vocboard.evaluator.names import Task
from vocboard.evaluator.problems import Problem
from vocboard.evaluator.public_api.inputs import (
    AnyEdition,
    AnyPath,
    load_edition,
    matching,
    of_image_set,
    read_image_sets,
)
from vocboard.evaluator.viewing.page import ViewSummary
from vocboard.evaluator.viewing.page import view as write_view

FROM_DETECTIONS = "segmentations-from-detections"
CONVERSIONS = (*REVERSIBLE, FROM_DETECTIONS, COCO_GROUND_TRUTH)

Progress = Callable[[int], None]


def view(
    tree: AnyPath,
    output: AnyPath,
    *,
    edition: AnyEdition | None = None,
    image_set: str | None = None,
    results: AnyPath | None = None,
    progress: Progress | None = None,
) -> ViewSummary:
    """Write a page, `index.html`, that shows images, annotations and results without a server.

    Args:
        tree: development kit tree, directory or archive.
        output: directory to write, atomically; output of an earlier call is replaced.
        edition: edition of the tree. Default: the edition that its folder is named after.
        image_set: image set to show, for example `"val"`. Default: the edition's.
        results: archive or directory of result files, which are marked as correct, wrong, ignored or missed.
        progress: called with the number of images done since the last call.

    Raises:
        GroundTruthError: the tree is invalid; lists all problems.
        OutputExistsError: `output` exists and was not written by vocboard.
        ValueError: the edition cannot be inferred from the tree.
        OSError: a file cannot be read or written.
    """
    chosen = of_image_set(_edition_of(Path(tree), edition), image_set)
    of_results = None if results is None else Path(results)
    return write_view(Path(tree), Path(output), chosen, results=of_results, progress=progress)


def example(
    task: str,
    tree: AnyPath,
    output: AnyPath,
    *,
    edition: AnyEdition | None = None,
    train: str = "train",
    test: str = "val",
    competition: str | None = None,
    progress: Progress | None = None,
) -> tuple[Problem, ...]:
    """Train a task's small example method on one image set, run it on another, and write a results archive.

    Args:
        task: its name in edition files, for example `detection`.
        tree: development kit tree with images, directory or archive.
        output: archive to write (`.tar.gz`, `.tgz`, `.tar`, `.zip`); not written on errors.
        edition: edition of the tree. Default: the edition that its folder is named after.
        train: image set to train on.
        test: image set to run on.
        competition: competition to write files for. Default: the first of the task.
        progress: called with the number of images read since the last call.

    Returns:
        Warnings about the results.

    Raises:
        ExampleError: the tree lacks required data.
        GroundTruthError: the tree is invalid.
        ValueError: there is no such task, or no example for it.
        OSError: a file cannot be read or written.
    """
    if task not in METHODS:
        raise ValueError(f"there is no example of {task!r}; there are {', '.join(METHODS)}")
    return run_example(
        Task(task),
        Path(tree),
        Path(output),
        _edition_of(Path(tree), edition),
        train=train,
        test=test,
        competition=competition,
        progress=progress,
    )


def convert(
    source_format: str,
    source: AnyPath,
    output: AnyPath,
    *,
    edition: AnyEdition,
    competition: str | None = None,
    from_competition: str | None = None,
    image_sets: ImageSets | GroundTruth | AnyPath | None = None,
    image_set: str | None = None,
    images: NamesById | None = None,
    categories: NamesById | None = None,
    drop_unmatched: bool = False,
    all_classes: bool = False,
    confidence: float | str | None = None,
    reverse: bool = False,
    progress: Progress | None = None,
) -> tuple[Problem, ...]:
    """Convert another tool's output to a results archive, or the reverse.

    docs/development-kit.md describes the formats.

    Args:
        source_format: of detections: `coco`, `yolo`, `torchvision`, `detectron2`, `mmdetection`, `ultralytics`,
            `huggingface`; of label maps: `greyscale`, `colour`, `numpy`; `layout`; `segmentations-from-detections`,
            which paints the boxes of result files; or `coco-ground-truth`, which converts COCO's JSON to a tree, or a
            tree to JSON with `reverse`. The colour map has a function of its own, `label_colour_map`.
        source: file, directory or archive.
        output: file or directory to write, atomically.
        edition: name, file or object.
        competition: of the results that are written (with `reverse`: read), such as `comp4`.
        from_competition: of the detections to paint, for `segmentations-from-detections`.
        image_sets: from `read_image_sets` or `read_ground_truth`, or the path of a tree.
        image_set: for example `"val"`. Default: that of `image_sets`, or the edition's.
        images: image names by id, of detections and (with `reverse`) of ground truth: the ids that are read or written.
            None to match numbers and file names.
        categories: category names by number, likewise; None if numbers refer to the edition's classes.
        drop_unmatched: whether to skip objects of categories that are not in the edition.
        all_classes: whether to write an empty file for each class without detections, so that it counts as entered.
        confidence: only detections of more confidence are painted, for `segmentations-from-detections`; all by default.
        reverse: whether to convert result files to the format.
        progress: called with the number of items done since the last call.

    Returns:
        Warnings.

    Raises:
        ConversionError: the input is invalid; lists all problems, and nothing is written.
        OutputExistsError: `output` exists and was not written by vocboard.
        ValueError: there is no such format, or a required argument is missing.
        OSError: a file cannot be read or written.
    """
    if source_format not in CONVERSIONS:
        raise ValueError(f"there is no format {source_format!r}; there are {', '.join(CONVERSIONS)}")
    has_ids, paints = has_other_ids(source_format, reverse=reverse), source_format == FROM_DETECTIONS
    unused = {
        "images and categories": not has_ids and (images is not None or categories is not None),
        "confidence and from_competition": not paints and (confidence is not None or from_competition is not None),
    }
    if any(unused.values()):
        raise ValueError(f"{source_format} does not use {' and '.join(name for name in unused if unused[name])}")
    chosen, given, target = of_image_set(load_edition(edition), image_set), Path(source), Path(output)
    if source_format == COCO_GROUND_TRUTH:
        if reverse:
            done = tree_to_coco(
                given, target, chosen, listed_images=images, listed_categories=categories, progress=progress
            )
        else:
            done = coco_to_tree(given, target, chosen, drop_unmatched=drop_unmatched, progress=progress)
        return done.problems
    if competition is None or image_sets is None:
        raise ValueError(f"{source_format} needs competition and image_sets")
    sets = _image_sets(image_sets, chosen)
    chosen = matching(chosen, sets)
    if reverse:
        if source_format == FROM_DETECTIONS:
            raise ValueError(f"{source_format} has no reverse")
        return convert_from_results(
            source_format,
            given,
            target,
            edition=chosen,
            competition=competition,
            image_sets=sets,
            images=images,
            categories=categories,
            progress=progress,
        )[1]
    if source_format == FROM_DETECTIONS:
        if from_competition is None:
            raise ValueError(f"{source_format} needs from_competition")
        return segmentations_from_detections(
            given,
            target,
            edition=chosen,
            detection=from_competition,
            segmentation=competition,
            image_sets=sets,
            above=None if confidence is None else decimal(str(confidence)),
            progress=progress,
        ).problems
    if source_format == LAYOUT:
        return layouts_to_results(given, target, chosen, competition, sets).problems
    if source_format in LABEL_MAP_FORMATS:
        return maps_to_results(
            source_format, given, target, edition=chosen, competition=competition, image_sets=sets, progress=progress
        ).problems
    return to_results(
        source_format,
        given,
        target,
        edition=chosen,
        competition=competition,
        image_sets=sets,
        images=images,
        categories=categories,
        drop_unmatched=drop_unmatched,
        all_classes=all_classes,
        progress=progress,
    ).problems


def _image_sets(given: ImageSets | GroundTruth | AnyPath, edition: Edition) -> ImageSets:
    if isinstance(given, ImageSets):
        return given
    return given.image_sets if isinstance(given, GroundTruth) else read_image_sets(given, edition)


def _edition_of(tree: Path, edition: AnyEdition | None) -> Edition:
    """Return the given edition, or else the one that the tree's folder is named after."""
    if edition is not None:
        return load_edition(edition)
    try:
        return load_edition(edition_name_of_tree(tree))
    except UnclearEditionError as error:
        raise ValueError(f"{error}; say which with edition=") from error
