"""`vocboard compare`: which of several methods' scores differ by more than chance."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from vocboard.client.errors import MisuseError
from vocboard.commands.across import across, lines
from vocboard.commands.comparison_tables import comparison_lines
from vocboard.commands.formats import TABLE, add_format_arguments
from vocboard.commands.offline import (
    add_image_set_argument,
    chosen_edition,
    editions_of_image_sets,
    named_paths,
    read_truth,
)
from vocboard.commands.problem_text import group_lines, group_summary
from vocboard.commands.progress import Progress
from vocboard.commands.reporting import DONE, PROBLEMS, print_json
from vocboard.commands.score_tables import metric_title
from vocboard.evaluator.editions import Competition, Edition
from vocboard.evaluator.evaluation import read_for_scoring
from vocboard.evaluator.evidence.evidence import Evidence
from vocboard.evaluator.evidence.weights import REPLICATES, SEED, draw_weights
from vocboard.evaluator.ground_truth import GroundTruth
from vocboard.evaluator.problem_groups import ProblemGroup
from vocboard.evaluator.reports.comparison_tables import EXPORTS
from vocboard.evaluator.statistics.bootstrap import replicate
from vocboard.evaluator.statistics.collect import collect_evidence
from vocboard.evaluator.statistics.compared import compare_class
from vocboard.evaluator.statistics.comparison import Comparison, TooFewReplicatesError, compare
from vocboard.evaluator.statistics.intervals import MIN_IMAGES, ReplicatedMeasure, ReplicatedScore
from vocboard.evaluator.tasks.definitions import METRICS


class InvalidResultsError(Exception):
    """Results have errors.

    Attributes:
        groups: the problems of the results by cause.
    """

    def __init__(self, path: Path, groups: Sequence[ProblemGroup]) -> None:
        super().__init__(str(path))
        self.groups = groups


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.description = (
        f"Compare methods on the same test images, by the bootstrap with {REPLICATES:,} replicates: which scores "
        "differ by more than chance, corrected for the number of pairs. Exit status: 0 compared, 1 results have "
        "problems, 2 usage error."
    )
    add = parser.add_argument
    add("edition", metavar="EDITION", help="an edition, for example VOC2007, or an edition file")
    add(
        "results",
        metavar="RESULTS",
        nargs="+",
        help="archives or directories of result files, each of a method that is named after the file; NAME=PATH gives "
        "it another name",
    )
    add("--ground-truth", metavar="TREE", type=Path, required=True, help="development kit tree with annotations")
    add("--competition", metavar="COMPETITION", required=True, help="for example comp4")
    add(
        "--class",
        metavar="CLASS",
        dest="class_name",
        help="compare the scores of this class, also with p-values corrected for all classes (default: the mean)",
    )
    add(
        "--across",
        action="store_true",
        help="also say which images are hard for all methods, how far methods agree, and what they reach together",
    )
    add_image_set_argument(parser, "of the results", several=False)
    add_format_arguments(parser, "json", "csv", "latex")


def run(arguments: argparse.Namespace) -> int:
    """Score all results on the same replicates, and print the comparison."""
    if arguments.across and arguments.format in EXPORTS:
        raise MisuseError(f"--across adds to the table and to JSON, not to --{arguments.format}")
    edition = _edition(arguments)
    competition = edition.competitions.get(arguments.competition)
    if competition is None:
        raise MisuseError(
            f"{edition.name} has no competition {arguments.competition!r}; it has {', '.join(edition.competitions)}"
        )
    paths = named_paths(arguments.results)
    try:
        with Progress("files of the ground truth") as progress:
            truth = read_truth(arguments.ground_truth, edition, progress.advance)
            progress.stage("methods", len(paths))
            measures, evidence = {}, {}
            for name, path in paths.items():
                evidence[name] = _evidence(path, edition, competition, truth)
                weights = draw_weights(evidence[name].images)
                measures[name] = replicate(evidence[name], competition.rules.metric, edition, competition, weights)
                progress.advance()
    except InvalidResultsError as error:
        where = sys.stdout if arguments.format == TABLE else sys.stderr  # where programs expect a document
        print("\n".join([f"{error}:", *group_lines(error.groups), group_summary(error.groups)]), file=where)
        return PROBLEMS
    scores = _scores(paths, measures, arguments.class_name)
    try:
        if arguments.class_name is None:
            found = compare(scores, higher_is_better=METRICS[competition.rules.metric].higher_is_better)
        else:
            found = compare_class(measures, arguments.class_name)
    except TooFewReplicatesError as error:
        raise MisuseError(f"too few images define these scores: {error}") from error
    more = None
    if arguments.across:
        images = truth.image_sets.sets[competition.task, competition.image_set]
        more = across(
            evidence,
            scores,
            found.methods,
            edition=edition,
            competition=competition,
            images=images,
            class_name=arguments.class_name,
        )
    if arguments.format in EXPORTS:
        print(EXPORTS[arguments.format](scores, found), end="")
    elif arguments.format == "json":
        document = _document(edition, competition, arguments.class_name, scores, found)
        print_json(document if more is None else {**document, "across": more.as_json()})
    else:
        what = "mean" if arguments.class_name is None else arguments.class_name
        print(f"{edition.name} {competition.key}: {metric_title(competition.rules.metric.value)}, {what}")
        print("\n".join(comparison_lines(scores, found)))
        if more is not None:
            print("\n".join(lines(more)))
    return DONE


def _edition(arguments: argparse.Namespace) -> Edition:
    chosen = editions_of_image_sets(chosen_edition(arguments.edition), arguments.image_set)
    if len(chosen) > 1:
        raise MisuseError("methods can only be compared on one image set")
    return next(iter(chosen.values()))


def _evidence(path: Path, edition: Edition, competition: Competition, truth: GroundTruth) -> Evidence:
    """Return what the scores of one method are computed from.

    Raises:
        InvalidResultsError: the results have errors.
        MisuseError: they do not have the competition, or it has too few test images.
    """
    read, confusions = read_for_scoring(path, edition, truth)
    if not read.is_valid:
        raise InvalidResultsError(path, read.groups)
    evidence = collect_evidence(
        {key: entry for key, entry in read.results.items() if key == competition.key}, edition, truth, confusions
    ).get(competition.key)
    if evidence is None:
        raise MisuseError(f"{path} has no results for {competition.key}, or the tree has no ground truth for it")
    if evidence.images < MIN_IMAGES:
        raise MisuseError(f"{competition.key} has fewer than {MIN_IMAGES} test images")
    return evidence


def _scores(
    paths: Mapping[str, Path], measures: Mapping[str, ReplicatedMeasure], class_name: str | None
) -> dict[str, ReplicatedScore]:
    """Return what is compared, by method: the means, or the scores of a class.

    Raises:
        MisuseError: a method does not have the class, the means are over different classes, or a score is undefined.
    """
    scores = {}
    first, *_ = measures
    for name, path in paths.items():
        entered = measures[name].measure.per_class
        if class_name is not None and class_name not in entered:
            raise MisuseError(f"{path} has no scores of {class_name!r}; it has {', '.join(entered)}")
        if class_name is None and entered.keys() != measures[first].measure.per_class.keys():
            raise MisuseError(
                f"the means of {paths[first]} and {path} are over different classes, which have no common scale; "
                "choose a class with --class"
            )
        scores[name] = measures[name].mean if class_name is None else measures[name].of_class(class_name)
        if scores[name].is_undefined:
            raise MisuseError(f"the score of {path} is undefined: there are no positives")
    return scores


def _document(
    edition: Edition,
    competition: Competition,
    class_name: str | None,
    scores: Mapping[str, ReplicatedScore],
    found: Comparison,
) -> dict[str, Any]:
    return {
        "edition": edition.name,
        "competition": competition.key,
        "metric": competition.rules.metric.value,
        "class": class_name,
        "replicates": REPLICATES,
        "seed": SEED,
        "scores": {name: {"score": scores[name].score, **scores[name].as_json()} for name in found.methods},
        **found.as_json(),
    }
