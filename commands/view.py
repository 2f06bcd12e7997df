"""`vocboard view`: write a static page that shows a tree and results."""

import argparse
from pathlib import Path

from vocboard.client.errors import MisuseError
from vocboard.commands.offline import add_image_set_argument, editions_of_image_sets, tree_misuse
from vocboard.commands.problem_text import problem_lines, summary
from vocboard.commands.progress import Progress
from vocboard.commands.reporting import DONE, PROBLEMS
from vocboard.commands.trees import add_tree_arguments, edition_of
from vocboard.evaluator.ground_truth import GroundTruthError
from vocboard.evaluator.problems import counted, has_errors
from vocboard.evaluator.viewing.page import view
from vocboard.evaluator.whole_output import OutputExistsError


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.description = (
        "Write an HTML page that shows images, annotations and results. It needs no server. Exit "
        "status: 0 written, 1 written without the results because they have problems, 2 usage error."
    )
    add_tree_arguments(parser)
    parser.add_argument("--results", metavar="RESULTS", type=Path, help="archive or directory of result files")
    add_image_set_argument(parser, "to show", several=False)
    parser.add_argument("--output", metavar="DIR", type=Path, required=True, help="directory to write")


def run(arguments: argparse.Namespace) -> int:
    """Write the page, and print its path."""
    chosen = editions_of_image_sets(edition_of(arguments.tree, arguments.edition), arguments.image_set)
    if len(chosen) > 1:
        raise MisuseError("view accepts only one image set at a time")
    edition = next(iter(chosen.values()))
    try:
        with Progress("images") as progress:
            done = view(arguments.tree, arguments.output, edition, results=arguments.results, progress=progress.advance)
    except GroundTruthError as error:
        raise tree_misuse(arguments.tree, edition, error) from error
    except (OutputExistsError, ValueError) as error:
        raise MisuseError(str(error)) from error
    if has_errors(done.problems):
        print("\n".join(problem_lines(done.problems)))
    if done.problems:
        print(f"Results: {summary(done.problems)} `vocboard validate` lists the problems.")
    print(f"{counted(done.images, 'image')}, {counted(done.objects, 'object')}")
    for key, counts in done.counts.items():
        marks = ", ".join(f"{number:,} {mark.title}" for mark, number in counts.items())
        print(f"{key}: {marks or 'no detections'}")
    print(f"Open {arguments.output / 'index.html'} in a browser.")
    return PROBLEMS if has_errors(done.problems) else DONE
