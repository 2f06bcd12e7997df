"""`vocboard validate`: check result files offline, as the server does."""

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from vocboard.commands.offline import (
    add_common_arguments,
    add_image_set_argument,
    chosen_classes,
    chosen_edition,
    editions_of_image_sets,
    others,
    read_public_part,
)
from vocboard.commands.problem_text import group_lines, group_summary, image_set_hint
from vocboard.commands.progress import Progress
from vocboard.commands.reporting import DONE, PROBLEMS, print_json
from vocboard.commands.tables import Column, render
from vocboard.evaluator.editions import Edition
from vocboard.evaluator.problems import counted
from vocboard.evaluator.problems.files import NO_RESULT_FILES
from vocboard.evaluator.reading.completeness import classes_not_entered, sentence
from vocboard.evaluator.reading.results import FORMATS, ReadResults, read_results


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.description = "Check result files as the server does. Exit status: 0 valid, 1 problems found, 2 usage error."
    add_common_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_image_set_argument(parser, "of the results")
    parser.add_argument(
        "--image-sets",
        metavar="TREE",
        type=Path,
        help="development kit tree (directory or archive), or a server's image sets (JSON); without it, image "
        "identifiers and sizes are not checked",
    )

    parser.add_argument("--all", action="store_true", help="show all listed places of each problem, not only three")


def run(arguments: argparse.Namespace) -> int:
    """Check the results, and print the problems found."""
    edition = chosen_edition(arguments.edition)
    classes = chosen_classes(arguments.segmentation_classes, edition)
    tree = arguments.image_sets
    chosen = editions_of_image_sets(edition, arguments.image_set)
    read = {}
    with Progress("files") as progress:
        for name, of_set in chosen.items():
            progress.stage("files of the tree")
            image_sets = None if tree is None else read_public_part(tree, of_set, progress.advance)
            progress.stage("result files")
            read[name] = read_results(
                arguments.results,
                of_set,
                image_sets,
                segmentation_classes=classes,
                other_editions=others(chosen, name),
                progress=progress.advance,
            )
    if arguments.json:
        print_json(_document(chosen, read))
    else:
        for name, results in read.items():
            heading = edition.name if name is None else f"{edition.name} {name}"
            lines = _lines(heading, chosen[name], results, items_known=tree is not None, every_place=arguments.all)
            print("\n".join(lines))
    return DONE if all(results.is_valid for results in read.values()) else PROBLEMS


def _document(chosen: Mapping[str | None, Edition], read: Mapping[str | None, ReadResults]) -> dict[str, Any]:
    """Return one JSON object; for several image sets, an object per image set by name."""
    documents = {name: _as_json(chosen[name], results) for name, results in read.items()}
    if len(documents) == 1:
        return next(iter(documents.values()))
    return {"edition": next(iter(chosen.values())).name, "image_sets": documents}


def _as_json(edition: Edition, read: ReadResults) -> dict[str, Any]:
    return {
        "edition": edition.name,
        "valid": read.is_valid,
        "competitions": {
            key: {"task": entry.competition.task.value, "classes": list(entry.classes)}
            for key, entry in read.results.items()
        },
        "not_entered": {key: list(names) for key, names in classes_not_entered(read.entered, edition).items()},
        "needs_accept_warnings": bool(read.doubtful),
        "problems": [problem.as_json() for problem in read.problems],
        "groups": [group.as_json() for group in read.groups],
    }


def _lines(heading: str, edition: Edition, read: ReadResults, *, items_known: bool, every_place: bool) -> Iterator[str]:
    if read.results and read.is_valid:
        entries = list(read.results.values())
        columns = [
            Column(heading, [entry.competition.key for entry in entries]),
            Column("", [entry.competition.task.value for entry in entries]),
            Column("", [counted(len(entry.classes), "class", "classes") for entry in entries], right=True),
            Column("", [FORMATS[entry.competition.task].extent(entry.content) for entry in entries], right=True),
        ]
        yield render(columns)
        yield ""
    if read.groups:
        from vocboard.commands.explanations import page_of_server  # noqa: PLC0415  # loads the HTTP library

        yield from group_lines(read.groups, page_of_server(), every_place=every_place)
    yield from image_set_hint(read.problems)
    if any(problem.code == NO_RESULT_FILES.code for problem in read.problems):
        yield "`vocboard convert` writes result files from the output of other tools."
    missing = classes_not_entered(read.entered, edition)
    if missing:
        yield f"{sentence(missing, edition)} The server asks before it accepts such results."
    for key, share in read.doubtful.items():
        yield f"The warnings are about {share} of {key}. The server asks before it accepts such results."
    yield group_summary(read.groups)
    if not items_known:
        yield "Image identifiers and sizes were not checked; use --image-sets with a development kit tree to do so."
