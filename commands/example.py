"""`vocboard example`: train a small method and run it on a tree."""

import argparse
from pathlib import Path

from vocboard.client.errors import MisuseError
from vocboard.commands.offline import tree_misuse
from vocboard.commands.problem_text import problem_lines
from vocboard.commands.progress import Progress
from vocboard.commands.reporting import DONE, PROBLEMS
from vocboard.commands.trees import add_tree_arguments, edition_of
from vocboard.evaluator.conversion import ConversionError
from vocboard.evaluator.conversion.result_archive import ARCHIVE_SUFFIXES
from vocboard.evaluator.editions import Task, for_image_set
from vocboard.evaluator.examples.material import ExampleError
from vocboard.evaluator.examples.run import METHODS, example
from vocboard.evaluator.ground_truth import GroundTruthError


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.description = (
        "Train a small example method on one image set of a tree, run it on another, and write a "
        "complete results archive. Use it as a starting point for your own method, or as a sample submission. Exit "
        "status: 0 written, 1 the results have problems, 2 usage error."
    )
    tasks = [task.value for task in METHODS]
    parser.add_argument("task", metavar="TASK", choices=tasks, help=", ".join(tasks))
    add_tree_arguments(parser)
    parser.add_argument("--train-set", metavar="NAME", default="train", help="image set to train on (default: train)")
    parser.add_argument("--image-set", metavar="NAME", default="val", help="image set to run on (default: val)")
    parser.add_argument("--competition", help="competition to write result files for (default: the first of the task)")
    parser.add_argument("--output", metavar="FILE", type=Path, required=True, help="results archive to write")


def run(arguments: argparse.Namespace) -> int:
    """Train, run, and print what to do next."""
    edition = edition_of(arguments.tree, arguments.edition)
    if not arguments.output.name.endswith(ARCHIVE_SUFFIXES):
        raise MisuseError(f"{arguments.output} does not end in {', '.join(ARCHIVE_SUFFIXES)}")
    try:
        with Progress("images") as progress:
            example(
                Task(arguments.task), arguments.tree, arguments.output, edition, train=arguments.train_set,
                test=arguments.image_set, competition=arguments.competition, progress=progress.advance,
            )  # fmt: skip
    except ExampleError as error:
        raise MisuseError(str(error)) from error
    except ConversionError as error:
        print("\n".join(problem_lines(error.problems)))
        return PROBLEMS
    except GroundTruthError as error:
        raise tree_misuse(arguments.tree, for_image_set(edition, arguments.train_set), error) from error
    print(f"{arguments.output} contains the results. To score them:")
    options = f"--ground-truth {arguments.tree} --image-set {arguments.image_set}"
    print(f"    vocboard evaluate {arguments.edition or edition.name} {arguments.output} {options}")
    return DONE
