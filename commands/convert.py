"""`vocboard convert`: convert results and ground truth between other formats and VOC's."""

import argparse
import sys
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from pathlib import Path

from vocboard.client.errors import MisuseError
from vocboard.commands.offline import chosen_edition, editions_of_image_sets, read_public_part, tree_misuse
from vocboard.commands.problem_text import problem_lines
from vocboard.commands.progress import Progress
from vocboard.commands.reporting import DONE, PROBLEMS
from vocboard.evaluator.archives import TREE_LIMITS, ArchiveError, members
from vocboard.evaluator.conversion import (
    FORMATS,
    LABEL_MAP_FORMATS,
    ConversionError,
    coco_to_tree,
    layouts_to_results,
    maps_to_results,
    read_category_names,
    read_image_names,
    segmentations_from_detections,
    to_results,
    tree_to_coco,
    write_colour_map,
)
from vocboard.evaluator.conversion.decimals import decimal
from vocboard.evaluator.conversion.detection_output import FIRST_CATEGORY
from vocboard.evaluator.conversion.names import Id
from vocboard.evaluator.conversion.result_archive import ARCHIVE_SUFFIXES
from vocboard.evaluator.conversion.reverse import LAYOUT, REVERSIBLE, convert_from_results, has_other_ids
from vocboard.evaluator.editions import Edition
from vocboard.evaluator.problems import Problem, Severity, counted
from vocboard.evaluator.problems.trees import GroundTruthError
from vocboard.evaluator.reading.file_names import FileNames
from vocboard.evaluator.whole_output import OutputExistsError

OTHERS = (LAYOUT, "segmentations-from-detections", "coco-ground-truth", "colour-map")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.description = (
        "Convert results and ground truth between other formats and VOC's. docs/development-kit.md "
        "describes the formats. Exit status: 0 written, 1 the input has problems and nothing was written, 2 usage "
        "error."
    )
    add = parser.add_argument
    formats = (*FORMATS, *LABEL_MAP_FORMATS, *OTHERS)
    add("format", metavar="FORMAT", choices=formats, help=", ".join(formats))
    add("input", metavar="INPUT", help="file, directory or archive; for colour-map, the number of colours")
    add("--edition", help="edition, or edition file (.toml)")
    add("--competition", help="competition of the results, for example comp4")
    add(
        "--from-competition", help="for segmentations-from-detections: competition of the detections, for example comp4"
    )
    add("--image-sets", metavar="TREE", type=Path, help="development kit tree, or a server's image sets (JSON)")
    add("--image-set", metavar="NAME", action="append", help="image set, for example val (default: the edition's)")
    add(
        "--images",
        metavar="FILE",
        type=Path,
        help="image names by id: COCO JSON, JSON object, or lines '<id> <name>'; with --reverse, ids to write",
    )
    add(
        "--categories",
        metavar="FILE",
        type=Path,
        help="category names: COCO JSON, JSON, YAML names, or one name per line; with --reverse, ids to write",
    )
    add(
        "--drop-unmatched",
        action="store_true",
        help="skip results and objects of categories that are not in the edition",
    )
    add(
        "--all-classes",
        action="store_true",
        help="write an empty file for each class without detections, so that it counts as entered",
    )
    add(
        "--confidence",
        metavar="NUMBER",
        help="for segmentations-from-detections: use only detections with a confidence above this",
    )
    add("--reverse", action="store_true", help="convert from VOC result files or a tree to FORMAT")
    add("--output", metavar="FILE", type=Path, required=True, help="file, or directory for formats with several files")


def run(arguments: argparse.Namespace) -> int:
    """Convert, and print a summary and the problems found."""
    try:
        lines, problems = _convert(arguments)
    except ConversionError as error:
        print("\n".join(problem_lines(error.problems, arguments.input)), file=sys.stderr)
        errors = sum(problem.severity is Severity.ERROR for problem in error.problems)
        print(f"Nothing was written: {counted(errors, 'error')}.{_other_way(arguments)}", file=sys.stderr)
        return PROBLEMS
    except OutputExistsError as error:
        raise MisuseError(str(error)) from error
    if problems:
        print("\n".join(problem_lines(problems, arguments.input)), file=sys.stderr)
    print(lines)
    return DONE


def _convert(arguments: argparse.Namespace) -> tuple[str, tuple[Problem, ...]]:
    if arguments.format == "colour-map":
        if not arguments.input.isdecimal():
            raise MisuseError("for colour-map, INPUT is the number of colours, for example 256")
        try:
            write_colour_map(arguments.output, int(arguments.input))
        except ValueError as error:
            raise MisuseError(str(error)) from error
        return f"{arguments.output}: {counted(int(arguments.input), 'colour')}", ()
    has_ids = has_other_ids(arguments.format, reverse=_is_reverse(arguments))
    paints = arguments.format == "segmentations-from-detections"
    used = {"images": has_ids, "categories": has_ids, "from_competition": paints, "confidence": paints}
    for option, is_used in used.items():
        if getattr(arguments, option) is not None and not is_used:
            raise MisuseError(f"{arguments.format} does not use --{option.replace('_', '-')}")
    edition = _edition(arguments)
    source = Path(arguments.input)
    if not source.exists():
        raise MisuseError(f"{source}: No such file or directory")
    with Progress("done") as bar:
        if arguments.format == "coco-ground-truth":
            return _ground_truth(arguments, source, edition, bar.advance)
        return _results(arguments, source, edition, bar.advance)


def _ground_truth(
    arguments: argparse.Namespace, source: Path, edition: Edition, advance: Callable[[int], None]
) -> tuple[str, tuple[Problem, ...]]:
    if _is_reverse(arguments):
        images, categories = _names(arguments, 1)
        try:
            done = tree_to_coco(
                source, arguments.output, edition,
                listed_images=images, listed_categories=categories, progress=advance,
            )  # fmt: skip
        except GroundTruthError as error:
            raise tree_misuse(source, edition, error) from error
    else:
        drop = arguments.drop_unmatched
        done = coco_to_tree(source, arguments.output, edition, drop_unmatched=drop, progress=advance)
    masks = f", {done.segmentations:,} with a segmentation" if done.segmentations else ""
    return f"{arguments.output}: {counted(done.objects, 'object')}{masks}", done.problems


def _results(
    arguments: argparse.Namespace, source: Path, edition: Edition, advance: Callable[[int], None]
) -> tuple[str, tuple[Problem, ...]]:
    for needed in ("competition", "image_sets"):
        if getattr(arguments, needed) is None:
            raise MisuseError(f"{arguments.format} needs --{needed.replace('_', '-')}")
    output, key = arguments.output, arguments.competition
    image_sets = read_public_part(arguments.image_sets, edition, lambda _: advance(0))
    if not arguments.reverse and not output.name.endswith(ARCHIVE_SUFFIXES):
        hint = (
            f"; to convert result files to {arguments.format}, add --reverse" if arguments.format in REVERSIBLE else ""
        )
        ends = ", ".join(ARCHIVE_SUFFIXES)
        raise MisuseError(f"{output} is not a result archive: the name must end in {ends}{hint}")
    if arguments.reverse:
        if arguments.format not in REVERSIBLE:
            raise MisuseError(f"{arguments.format} has no --reverse")
        images, categories = _names(arguments, FIRST_CATEGORY.get(arguments.format, 1))
        count, problems = convert_from_results(
            arguments.format, source, output, edition=edition, competition=key, image_sets=image_sets,
            images=images, categories=categories, progress=advance,
        )  # fmt: skip
        return f"{output}: {counted(count, _written(arguments.format))}", problems
    if arguments.format == LAYOUT:
        done = layouts_to_results(source, output, edition, key, image_sets)
        return f"{output}: {counted(done.detections, 'layout')}", done.problems
    if arguments.format in LABEL_MAP_FORMATS:
        done = maps_to_results(
            arguments.format, source, output, edition=edition, competition=key, image_sets=image_sets, progress=advance
        )
        return f"{output}: {counted(done.detections, 'label map')}", done.problems
    if arguments.format == "segmentations-from-detections":
        if arguments.from_competition is None:
            raise MisuseError("segmentations-from-detections needs --from-competition")
        done = segmentations_from_detections(
            source, output, edition=edition, detection=arguments.from_competition, segmentation=key,
            image_sets=image_sets, above=_confidence(arguments.confidence), progress=advance,
        )  # fmt: skip
        return f"{output}: {counted(done.detections, 'box', 'boxes')} painted", done.problems
    listed = arguments.categories
    done = to_results(
        arguments.format, source, output, edition=edition, competition=key, image_sets=image_sets,
        images=_image_names(arguments),
        categories=None if listed is None else partial(read_category_names, listed),
        drop_unmatched=arguments.drop_unmatched, all_classes=arguments.all_classes, progress=advance,
    )  # fmt: skip
    classes = counted(len(done.classes), "class", "classes")
    return f"{output}: {counted(done.detections, 'detection')} of {classes}", done.problems


def _other_way(arguments: argparse.Namespace) -> str:
    """Return what to do if --reverse seems to be forgotten."""
    if arguments.reverse or arguments.format not in REVERSIBLE or arguments.format in LABEL_MAP_FORMATS:
        return ""  # other label maps can have the names of result files
    names = FileNames(_edition(arguments))
    try:
        files = members(Path(arguments.input), TREE_LIMITS, lambda _: None)
        is_other_way = any(names.identify(file.name) is not None for file in files)
    except (ArchiveError, OSError):  # the latter of a pipe, which has been read
        return ""
    return f" These are result files: to convert them to {arguments.format}, add --reverse." if is_other_way else ""


def _names(arguments: argparse.Namespace, first: int) -> tuple[dict[Id, str] | None, dict[Id, str] | None]:
    """Return image names and category names by id, as far as files are given.

    Args:
        first: number of the first category, for a file that has only names.
    """
    categories = arguments.categories
    return _image_names(arguments), None if categories is None else read_category_names(categories, first)


def _image_names(arguments: argparse.Namespace) -> dict[Id, str] | None:
    return None if arguments.images is None else read_image_names(arguments.images)


def _is_reverse(arguments: argparse.Namespace) -> bool:
    """Return whether VOC's files are the input; for ground truth, a directory or archive says so."""
    if arguments.format != "coco-ground-truth":
        return bool(arguments.reverse)
    source = Path(arguments.input)
    return arguments.reverse or source.is_dir() or source.suffix != ".json"


def _written(target_format: str) -> str:
    if target_format == LAYOUT:
        return "layout"
    return "label map" if target_format in LABEL_MAP_FORMATS else "detection"


def _edition(arguments: argparse.Namespace) -> Edition:
    if arguments.edition is None:
        raise MisuseError(f"{arguments.format} needs --edition")
    chosen = list(editions_of_image_sets(chosen_edition(arguments.edition), arguments.image_set).values())
    if len(chosen) > 1:
        raise MisuseError("convert accepts only one image set at a time")
    return chosen[0]


def _confidence(text: str | None) -> Decimal | None:
    try:
        return None if text is None else decimal(text)
    except ValueError as error:
        raise MisuseError(f"--confidence: {error}") from error
