"""`vocboard check`: check ground truth as a server does, before uploading it."""

import argparse

from vocboard.commands.offline import add_image_set_argument, editions_of_image_sets
from vocboard.commands.problem_text import problem_lines, summary
from vocboard.commands.progress import Progress
from vocboard.commands.reporting import DONE, PROBLEMS, print_json
from vocboard.commands.trees import add_tree_arguments, edition_of
from vocboard.evaluator.editions import Edition
from vocboard.evaluator.ground_truth import GroundTruth, GroundTruthError
from vocboard.evaluator.ground_truth.available_sets import available_image_sets, describe_image_sets
from vocboard.evaluator.ground_truth.reader import import_ground_truth
from vocboard.evaluator.ground_truth.summary import summarise
from vocboard.evaluator.problems import Problem, counted, has_errors

_LACKS_SETS = "no_image_sets"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.description = (
        "Check a ground truth tree as a server does, and list every problem. Exit status: 0 no "
        "errors (an organiser has to confirm warnings), 1 errors found, 2 usage error."
    )
    add_tree_arguments(parser)
    add_image_set_argument(parser, "to check")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Read the tree, and print its problems."""
    edition = edition_of(arguments.tree, arguments.edition)
    problems: list[Problem] = []
    lines: list[str] = []
    for of_set in editions_of_image_sets(edition, arguments.image_set).values():
        try:
            with Progress("files") as progress:
                read = import_ground_truth(arguments.tree, of_set, progress=progress.advance)
        except GroundTruthError as error:
            problems += error.problems
            if any(problem.code == _LACKS_SETS for problem in error.problems):
                available = available_image_sets(arguments.tree, of_set)
                lines.append(f"The tree was read for other image sets: {describe_image_sets(available)}.")
        else:
            problems += read.warnings
            lines += _lines(read.truth, of_set)
    if arguments.json:
        print_json(
            {
                "edition": edition.name,
                "valid": not has_errors(problems),
                "problems": [problem.as_json() for problem in problems],
            }
        )
    else:
        print("\n".join([*problem_lines(problems), *lines, summary(problems)]))
    return PROBLEMS if has_errors(problems) else DONE


def _lines(truth: GroundTruth, edition: Edition) -> list[str]:
    lines = []
    for each in summarise(truth, edition):
        what = f"{each.task.value}, {each.image_set}: "
        if each.missing is not None:
            lines.append(f"{what}cannot be scored, {each.missing}")
            continue
        people = "" if each.people is None else f", {counted(each.people, 'person', 'people')}"
        lines.append(f"{what}{counted(each.images, 'image')}{people}")
    return lines
