"""`vocboard evaluate`: score result files against a development kit tree."""

import argparse
from collections.abc import Iterator
from pathlib import Path

from client.scores import competition_scores
from commands.offline import (
    PROBLEMS,
    VALID,
    MisuseError,
    add_common_arguments,
    chosen_classes,
    chosen_edition,
    print_json,
    reporting_misuse,
)
from commands.problem_text import problem_lines, summary
from commands.score_tables import score_lines
from evaluator.evaluation import Evaluation, evaluate
from evaluator.ground_truth import GroundTruthError, read_ground_truth
from evaluator.problems import has_errors


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.description = "Score result files. Exit status: 0 scored, 1 the results have problems, 2 usage."
    add_common_arguments(parser)
    parser.add_argument(
        "--ground-truth",
        metavar="TREE",
        type=Path,
        required=True,
        help="development kit tree with annotations: directory or archive",
    )


@reporting_misuse
def run(arguments: argparse.Namespace) -> int:
    """Score the results, and print the scores."""
    edition = chosen_edition(arguments.edition)
    classes = chosen_classes(arguments.segmentation_classes, edition)
    try:
        truth = read_ground_truth(arguments.ground_truth, edition)
    except GroundTruthError as error:
        raise MisuseError(f"{arguments.ground_truth}: {error}") from error
    evaluation = evaluate(arguments.results, edition, truth, segmentation_classes=classes)
    if arguments.json:
        print_json(evaluation.as_json())
    else:
        print("\n".join(_lines(evaluation)))
    return PROBLEMS if has_errors(evaluation.problems) else VALID


def _lines(evaluation: Evaluation) -> Iterator[str]:
    for key, scores in evaluation.scores.items():
        yield f"{evaluation.edition} {key}: {scores.task.value}"
        yield from score_lines(competition_scores(key, scores.as_json()))
        yield ""
    for key in evaluation.unavailable:
        yield f"{evaluation.edition} {key}: not scored, the tree has no ground truth for it"
        yield ""
    yield from problem_lines(evaluation.problems)
    yield summary(evaluation.problems)
