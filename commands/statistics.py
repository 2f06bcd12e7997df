"""`vocboard statistics`: count images and objects per class and image set, as in the VOC documents' tables."""

import argparse
import sys
from collections.abc import Iterator

from vocboard.client.errors import MisuseError
from vocboard.commands.offline import add_image_set_argument, editions_of_image_sets, tree_misuse
from vocboard.commands.progress import Progress
from vocboard.commands.reporting import DONE, MISUSE, print_json
from vocboard.commands.tables import Column, render, terminal_width
from vocboard.commands.trees import add_tree_arguments, edition_of
from vocboard.evaluator.editions import for_image_set
from vocboard.evaluator.ground_truth import GroundTruthError
from vocboard.evaluator.ground_truth.available_sets import available_image_sets
from vocboard.evaluator.ground_truth.reader import read_ground_truth
from vocboard.evaluator.ground_truth.statistics import SetStatistics, statistics
from vocboard.evaluator.tasks.definition import StatisticsTable
from vocboard.evaluator.tasks.definitions import TASKS
from vocboard.evaluator.tasks.truth import ClassStatistics

_ORDER = ("train", "val", "trainval", "test")  # as in the documents' tables; other sets follow


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.description = (
        "Count the images and objects of each class in every image set. Objects marked difficult are "
        "not counted. Exit status: 0 success, 2 usage error, or an image set is invalid."
    )
    add_tree_arguments(parser)
    add_image_set_argument(parser, "to count", default="all of the tree")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Count, and print the tables."""
    edition = edition_of(arguments.tree, arguments.edition)
    if arguments.image_set:
        chosen = [str(name) for name in editions_of_image_sets(edition, arguments.image_set)]
    else:
        available = {name for names in available_image_sets(arguments.tree, edition).values() for name in names}
        chosen = [name for name in _ORDER if name in available] + sorted(available - set(_ORDER))
    if not chosen:
        raise MisuseError(f"{arguments.tree} has no image sets of {edition.name}")
    found: list[SetStatistics] = []
    status = DONE
    with Progress("image sets", len(chosen)) as progress:
        for name in progress.over(chosen):
            of_set = for_image_set(edition, name)
            try:
                truth = read_ground_truth(arguments.tree, of_set, progress=lambda _: progress.advance(0))
                found += statistics(truth, of_set)
            except GroundTruthError as error:
                if arguments.image_set or len(chosen) == 1:
                    raise tree_misuse(arguments.tree, of_set, error) from error
                print(f"{name}: skipped\n{error}\n", file=sys.stderr)
                status = MISUSE
    if arguments.json:
        print_json({"edition": edition.name, "image_sets": [each.as_json() for each in found]})
        return status
    for task, definition in TASKS.items():
        of_task = [each for each in found if each.task is task]
        if of_task and definition.statistics is not None:
            print("\n".join(_table(definition.statistics, of_task)))
    if not found:
        print("The image sets have no ground truth.")
    return status


def _table(table: StatisticsTable, sets: list[SetStatistics]) -> Iterator[str]:
    names = list(sets[0].classes)
    yield table.title
    columns = [Column("", [*names, "Total", "Images in the set", *(["People listed"] if _has_people(sets) else [])])]
    for each in sets:
        rows = [*(each.classes[name] for name in names), each.total]
        extra = ["" if each.people is None else f"{each.people:,}"] if _has_people(sets) else []
        images = [f"{row.images:,}" for row in rows]
        columns.append(Column(f"{each.image_set} img", [*images, f"{each.images:,}", *extra], right=True))
        if table.objects is not None:
            blank = [""] * (1 + len(extra))
            columns.append(Column(table.objects, [*map(_objects, rows), *blank], right=True))
    yield render(columns, width=terminal_width())
    yield ""


def _objects(row: ClassStatistics) -> str:
    return "" if row.objects is None else f"{row.objects:,}"


def _has_people(sets: list[SetStatistics]) -> bool:
    return any(each.people is not None for each in sets)
