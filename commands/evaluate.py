"""`vocboard evaluate`: score result files against a development kit tree."""

import argparse
import sys
from pathlib import Path

from vocboard.client.errors import MisuseError
from vocboard.commands.evaluating import EvaluatedSet, Wanted, evaluate_method
from vocboard.commands.evaluation_output import lines, problems_of, reports_of, write_files
from vocboard.commands.formats import add_format_arguments
from vocboard.commands.offline import (
    add_common_arguments,
    add_image_set_argument,
    chosen_classes,
    chosen_edition,
    editions_of_image_sets,
    named_paths,
    others,
    read_truth,
)
from vocboard.commands.progress import Progress
from vocboard.commands.reporting import DONE, PROBLEMS, print_json
from vocboard.evaluator.editions import image_sets_of
from vocboard.evaluator.evidence.weights import REPLICATES
from vocboard.evaluator.problems import has_errors
from vocboard.evaluator.reports import PAGE, as_csv, as_latex

MIN_REPLICATES, MAX_REPLICATES = 100, 10_000
_EXPORTS = {"csv": as_csv, "latex": as_latex}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.description = (
        "Score the result files of a method. With those of several methods and --bootstrap, compare the methods, too. "
        "Exit status: 0 scored, 1 results have problems, 2 usage error."
    )
    add_common_arguments(parser, several=True)
    add_image_set_argument(parser, "of the results")
    parser.add_argument(
        "--ground-truth",
        metavar="TREE",
        type=Path,
        required=True,
        help="development kit tree with annotations: directory or archive",
    )

    add = parser.add_argument
    add(
        "--report",
        metavar="DIR",
        type=Path,
        help="write an HTML report with tables, curves and warnings to this directory",
    )
    add(
        "--curves",
        metavar="DIR",
        type=Path,
        help="write the curves to this directory, each as CSV and SVG and all as JSON",
    )
    add(
        "--bootstrap",
        metavar="REPLICATES",
        type=_replicates,
        help="add the 95 %% interval of each score: the bootstrap over test images, with this many replicates, such as "
        f"{REPLICATES}; for several methods, also their ranks and the differences of each pair",
    )
    add(
        "--diagnose",
        action="store_true",
        help="add to JSON and to the report the kinds of errors, what the score would be without them, and further "
        "measures; the report also shows the worst errors of each kind",
    )
    add_format_arguments(parser, "json", "csv", "latex")


def run(arguments: argparse.Namespace) -> int:
    """Score the results, and print the scores."""
    if arguments.diagnose and arguments.format != "json" and arguments.report is None:
        raise MisuseError("--diagnose adds to JSON and to reports; give --json or --report as well")
    paths = _paths(arguments)
    edition = chosen_edition(arguments.edition)
    classes = chosen_classes(arguments.segmentation_classes, edition)
    chosen = editions_of_image_sets(edition, arguments.image_set)
    wanted = Wanted(arguments.bootstrap, arguments.diagnose, arguments.diagnose and arguments.report is not None)
    evaluated: dict[str | None, EvaluatedSet] = {}
    with Progress("files") as progress:
        for name, of_set in chosen.items():
            progress.stage("files of the ground truth")
            truth = read_truth(arguments.ground_truth, of_set, progress.advance)
            methods = {
                method: evaluate_method(
                    path,
                    of_set,
                    truth,
                    wanted,
                    segmentation_classes=classes,
                    other_editions=others(chosen, name),
                    progress=progress,
                )
                for method, path in paths.items()
            }
            evaluated[name] = EvaluatedSet(of_set, methods)
    titled = {name or ", ".join(image_sets_of(edition)): each for name, each in evaluated.items()}
    written = write_files(titled, edition, paths, arguments)
    if arguments.format == "json":
        documents = {name: each.as_json() for name, each in evaluated.items()}
        [document] = (
            documents.values() if len(documents) == 1 else ({"edition": edition.name, "image_sets": documents},)
        )
        print_json(document)
    elif arguments.format in _EXPORTS:
        print(_EXPORTS[arguments.format](reports_of(titled)), end="")
        for scored in evaluated.values():
            for method, found in scored.methods.items():
                if has_errors(found.evaluation.problems):
                    print("\n".join([f"{paths[method]}:", *problems_of(found)]), file=sys.stderr)
    else:
        for name, each in evaluated.items():
            print("\n".join(lines(each, "" if name is None else f" on {name}")))
        if arguments.report is not None and written:
            print(f"Open {arguments.report / PAGE} in a browser.")
    every = [method.evaluation for each in evaluated.values() for method in each.methods.values()]
    return PROBLEMS if any(has_errors(each.problems) for each in every) else DONE


def _paths(arguments: argparse.Namespace) -> dict[str, Path]:
    """Return the results by method.

    Raises:
        MisuseError: methods have the same name, or an option is for one method only.
    """
    if len(arguments.results) == 1:
        return {"": next(iter(named_paths(arguments.results).values()))}
    if arguments.curves:
        raise MisuseError("--curves is for the results of one method; give --json or --report for several")
    return named_paths(arguments.results)


def _replicates(text: str) -> int:
    """Return the number of replicates."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if not MIN_REPLICATES <= number <= MAX_REPLICATES:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {MIN_REPLICATES} to {MAX_REPLICATES:,}")
    return number
