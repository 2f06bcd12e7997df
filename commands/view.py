"""`vocboard view`: a static page to look at a tree and at results on it."""

import argparse
from pathlib import Path

from vocboard.commands.offline import (
    PROBLEMS,
    VALID,
    MisuseError,
    add_image_set_argument,
    editions_of_image_sets,
    reporting_misuse,
    tree_misuse,
)
from vocboard.commands.problem_text import problem_lines, summary
from vocboard.commands.progress import Progress
from vocboard.commands.trees import add_tree_arguments, edition_of
from vocboard.evaluator.ground_truth import GroundTruthError
from vocboard.evaluator.problems import counted, has_errors
from vocboard.evaluator.viewing import view
from vocboard.evaluator.whole_output import OutputExistsError


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.description = (
        "Write a page that shows images, annotations and results, for any browser and without a server. Exit status: "
        "0 written, 1 written without the results, which have problems, 2 usage."
    )
    add_tree_arguments(parser)
    parser.add_argument("--results", metavar="RESULTS", type=Path, help="archive or directory of result files")
    add_image_set_argument(parser)
    parser.add_argument("--output", metavar="DIR", type=Path, required=True, help="directory to write")


@reporting_misuse
def run(arguments: argparse.Namespace) -> int:
    """Write the page, and print where it is."""
    chosen = editions_of_image_sets(edition_of(arguments.tree, arguments.edition), arguments.image_set)
    if len(chosen) > 1:
        raise MisuseError("view takes one image set at a time")
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
        print(f"Results: {summary(done.problems)} `vocboard validate` lists what is wrong.")
    print(f"{counted(done.images, 'image')}, {counted(done.objects, 'object')}")
    for key, counts in done.counts.items():
        marks = ", ".join(f"{number:,} {mark.name.lower()}" for mark, number in counts.items())
        print(f"{key}: {marks or 'no detections'}")
    print(f"Open {arguments.output / 'index.html'} in a browser.")
    return PROBLEMS if has_errors(done.problems) else VALID
