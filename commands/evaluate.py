"""`vocboard evaluate`: score result files against a development kit tree."""

import argparse
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from vocboard.client.scores import competition_scores
from vocboard.commands.offline import (
    PROBLEMS,
    VALID,
    MisuseError,
    add_common_arguments,
    add_image_set_argument,
    chosen_classes,
    chosen_edition,
    editions_of_image_sets,
    others,
    print_json,
    read_truth,
    reporting_misuse,
)
from vocboard.commands.problem_text import explanation_hint, image_set_hint, problem_lines, summary
from vocboard.commands.progress import Progress
from vocboard.commands.score_tables import score_lines
from vocboard.evaluator.diagnosis.report import diagnosis
from vocboard.evaluator.diagnosis.worst import WorstError, worst_errors
from vocboard.evaluator.editions import Edition, image_sets_of
from vocboard.evaluator.evaluation import Confusions, Evaluation, read_for_scoring, score_results
from vocboard.evaluator.ground_truth import GroundTruth
from vocboard.evaluator.problems import has_errors
from vocboard.evaluator.reports import PAGE, as_csv, as_latex, write_curves, write_report
from vocboard.evaluator.reports.findings import Findings, Sources
from vocboard.evaluator.results import Results
from vocboard.evaluator.statistics.bootstrap import Bootstrap, bootstrap
from vocboard.evaluator.statistics.collect import collect_evidence
from vocboard.evaluator.statistics.evidence import Evidence
from vocboard.evaluator.statistics.weights import REPLICATES
from vocboard.evaluator.whole_output import OutputExistsError

LEAST_REPLICATES, MOST_REPLICATES = 100, 10_000

Bootstraps = Mapping[str, Bootstrap]  # by competition
Diagnoses = Mapping[str, dict[str, Any]]  # by competition
Worst = Mapping[str, Mapping[str, list[WorstError]]]  # by competition and kind


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.description = "Score result files. Exit status: 0 scored, 1 the results have problems, 2 usage error."
    add_common_arguments(parser)
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
    add("--curves", metavar="DIR", type=Path, help="write the curves to this directory, each as CSV and all as JSON")
    add(
        "--bootstrap",
        metavar="REPLICATES",
        type=_replicates,
        help="add the 95 %% interval of each score: the bootstrap over test images, with this many replicates, such as "
        f"{REPLICATES}",
    )
    add(
        "--diagnose",
        action="store_true",
        help="add to JSON and to the report the kinds of errors, what the score would be without them, and further "
        "measures; the report also shows the worst errors of each kind",
    )
    add("--csv", action="store_true", help="print CSV, one line per score")
    add("--latex", action="store_true", help="print LaTeX tables")


@reporting_misuse
def run(arguments: argparse.Namespace) -> int:
    """Score the results, and print the scores."""
    if arguments.diagnose and not arguments.json and arguments.report is None:
        raise MisuseError("--diagnose adds to JSON and to reports; give --json or --report as well")
    edition = chosen_edition(arguments.edition)
    classes = chosen_classes(arguments.segmentation_classes, edition)
    chosen = editions_of_image_sets(edition, arguments.image_set)
    evaluations: dict[str | None, Evaluation] = {}
    bootstraps: dict[str | None, Bootstraps] = {}
    diagnoses: dict[str | None, Diagnoses] = {}
    worst: dict[str | None, Worst] = {}
    with Progress("files") as progress:
        for name, of_set in chosen.items():
            progress.stage("files of the ground truth")
            truth = read_truth(arguments.ground_truth, of_set, progress.advance)
            progress.stage("result files")
            read, confusions = read_for_scoring(
                arguments.results,
                of_set,
                truth,
                segmentation_classes=classes,
                other_editions=others(chosen, name),
                progress=progress.advance,
                with_boundaries=arguments.diagnose,
            )
            evaluations[name] = score_results(read, of_set, truth, confusions, progress=progress.advance)
            bootstraps[name], diagnoses[name], worst[name] = {}, {}, {}
            if (arguments.bootstrap is not None or arguments.diagnose) and read.is_valid:
                progress.stage("statistics")
                evidence = collect_evidence(read.results, of_set, truth, confusions)
                if arguments.bootstrap is not None:
                    bootstraps[name] = _bootstraps(evidence, of_set, arguments.bootstrap)
                if arguments.diagnose:
                    diagnoses[name] = diagnosis(read.results, of_set, truth, evidence, confusions=confusions)
                    if arguments.report is not None:
                        worst[name] = _worst(read.results, of_set, truth, confusions)
    titles = {name: name or ", ".join(image_sets_of(edition)) for name in evaluations}
    named = {titles[name]: evaluation for name, evaluation in evaluations.items()}
    findings = {titles[name]: Findings(bootstraps[name], diagnoses[name], worst[name]) for name in evaluations}
    sources = Sources(arguments.ground_truth, arguments.results, {titles[name]: chosen[name] for name in chosen})
    are_written = _write_files(named, edition, arguments, findings, sources)
    if arguments.json:
        print_json(_document(edition.name, evaluations, bootstraps, diagnoses))
    elif arguments.csv:
        print(as_csv(named), end="")
    elif arguments.latex:
        print(as_latex(named), end="")
    else:
        for name, evaluation in evaluations.items():
            print("\n".join(_lines(evaluation, name, bootstraps[name])))
        if arguments.report is not None and are_written:
            print(f"Open {arguments.report / PAGE} in a browser.")
    return PROBLEMS if any(has_errors(evaluation.problems) for evaluation in evaluations.values()) else VALID


def _write_files(
    named: Mapping[str, Evaluation],
    edition: Edition,
    arguments: argparse.Namespace,
    findings: Mapping[str, Findings],
    sources: Sources,
) -> bool:
    """Write the report and the curves that the arguments ask for, and return whether there is anything to write.

    Raises:
        MisuseError: a directory contains something else.
    """
    if not any(evaluation.scores for evaluation in named.values()):
        if arguments.report is not None or arguments.curves is not None:
            print("vocboard: nothing was scored, so no report or curves were written", file=sys.stderr)
        return False
    try:
        if arguments.report is not None:
            write_report(named, edition, arguments.report, findings, sources)
        if arguments.curves is not None:
            write_curves(named, arguments.curves)
    except OutputExistsError as error:
        raise MisuseError(str(error)) from error
    return True


def _replicates(text: str) -> int:
    """Return the number of replicates."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if not LEAST_REPLICATES <= number <= MOST_REPLICATES:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a whole number from {LEAST_REPLICATES} to {MOST_REPLICATES:,}"
        )
    return number


def _bootstraps(evidence: Mapping[str, Evidence], edition: Edition, replicates: int) -> Bootstraps:
    """Return the bootstrap of each competition.

    Raises:
        MisuseError: there are too few test images.
    """
    try:
        return {key: bootstrap(each, edition, edition.competitions[key], replicates) for key, each in evidence.items()}
    except ValueError as error:
        raise MisuseError(f"no bootstrap is possible: {error}") from error


def _worst(results: Results, edition: Edition, truth: GroundTruth, confusions: Confusions) -> Worst:
    """Return the worst errors of each competition that can be scored."""
    found = {}
    for key, entry in results.items():
        part = entry.competition.task, entry.competition.image_set
        if part in truth.truths:
            counts = confusions.counts(entry.competition)
            by_image = None if counts is None else counts.by_image
            found[key] = worst_errors(entry, truth.truths[part], edition, truth.image_sets.sets[part], by_image)
    return found


def _document(
    edition: str,
    evaluations: Mapping[str | None, Evaluation],
    bootstraps: Mapping[str | None, Bootstraps],
    diagnoses: Mapping[str | None, Diagnoses],
) -> dict[str, Any]:
    """Return one JSON object; for several image sets, an object per image set by name."""
    documents = {name: evaluation.as_json() for name, evaluation in evaluations.items()}
    for name, document in documents.items():
        for key, found in bootstraps[name].items():
            document["competitions"][key]["bootstrap"] = found.as_json()
        for key, diagnosed in diagnoses[name].items():
            document["competitions"][key]["diagnosis"] = diagnosed
    if len(documents) == 1:
        return next(iter(documents.values()))
    return {"edition": edition, "image_sets": documents}


def _lines(evaluation: Evaluation, image_set: str | None, bootstraps: Bootstraps) -> Iterator[str]:
    where = "" if image_set is None else f" on {image_set}"
    for key, scores in evaluation.scores.items():
        yield f"{evaluation.edition} {key}{where}: {scores.task.value}"
        yield from score_lines(competition_scores(key, scores.as_json()), _intervals(bootstraps.get(key)))
        yield ""
    for key in evaluation.unavailable:
        yield f"{evaluation.edition} {key}{where}: not scored, the tree has no ground truth for it"
        yield ""
    yield from problem_lines(evaluation.problems)
    yield from explanation_hint(evaluation.problems)
    yield from image_set_hint(evaluation.problems)
    yield summary(evaluation.problems)


def _intervals(found: Bootstrap | None) -> dict[str | None, tuple[float, float]] | None:
    """Return the ends of the intervals of the primary metric, by class, and of the mean under None."""
    if found is None:
        return None
    ends: dict[str | None, tuple[float, float]] = {None: (found.mean.low, found.mean.high)}
    return ends | {name: (interval.low, interval.high) for name, interval in found.per_class.items()}
