"""Scores the results of methods for `vocboard evaluate`, with the statistics that were asked for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from vocboard.client.errors import MisuseError
from vocboard.commands.progress import Progress
from vocboard.evaluator.diagnosis.report import diagnosis
from vocboard.evaluator.diagnosis.worst import WorstError, worst_errors
from vocboard.evaluator.editions import Edition
from vocboard.evaluator.evaluation import Confusions, Evaluation, read_for_scoring, score_results
from vocboard.evaluator.evidence.evidence import Evidence
from vocboard.evaluator.ground_truth import GroundTruth
from vocboard.evaluator.problem_groups import ProblemGroup
from vocboard.evaluator.reports.findings import Findings
from vocboard.evaluator.results import Results
from vocboard.evaluator.statistics.bootstrap import (
    Bootstrap,
    bootstrap,
    bootstrap_every_metric,
    with_every_metric,
)
from vocboard.evaluator.statistics.collect import collect_evidence
from vocboard.evaluator.statistics.compared import ComparedMethods, compare_methods


@dataclass(frozen=True, slots=True)
class Wanted:
    """Outputs to compute in addition to scores.

    Attributes:
        replicates: number of replicates of the bootstrap; None for no bootstrap.
        diagnosis: whether to diagnose.
        worst: whether to look for the worst errors of each kind.
    """

    replicates: int | None = None
    diagnosis: bool = False
    worst: bool = False


@dataclass(frozen=True, slots=True)
class Evaluated:
    """One method's results on one image set.

    Attributes:
        evaluation: the scores.
        findings: what else was asked for; empty if the results have errors.
        groups: the problems of the results by cause.
    """

    evaluation: Evaluation
    findings: Findings
    groups: Sequence[ProblemGroup]

    def as_json(self) -> dict[str, Any]:
        """Return what `vocboard evaluate --json` prints."""
        document = self.evaluation.as_json()
        for key, found in self.findings.bootstraps.items():
            document["competitions"][key]["bootstrap"] = found.as_json()
        for key, diagnosed in self.findings.diagnoses.items():
            document["competitions"][key]["diagnosis"] = diagnosed
        return document


@dataclass(frozen=True)
class EvaluatedSet:
    """The results of all methods on one image set.

    Attributes:
        edition: for the image set.
        methods: by name; a method that is not compared with others has the empty name.
    """

    edition: Edition
    methods: Mapping[str, Evaluated]

    @cached_property
    def comparisons(self) -> Mapping[str, ComparedMethods]:
        """The methods compared in each competition that was bootstrapped and that at least two of them entered."""
        keys = dict.fromkeys(key for each in self.methods.values() for key in each.findings.bootstraps)
        by_competition = {
            key: {
                name: each.findings.bootstraps[key]
                for name, each in self.methods.items()
                if key in each.findings.bootstraps
            }
            for key in keys
        }
        return {key: compare_methods(found) for key, found in by_competition.items() if len(found) > 1}

    def as_json(self) -> dict[str, Any]:
        """Return what `vocboard evaluate --json` prints: for several methods, those of all, and the comparisons."""
        if len(self.methods) == 1:
            return next(iter(self.methods.values())).as_json()
        return {
            "edition": self.edition.name,
            "methods": {name: each.as_json() for name, each in self.methods.items()},
            "comparisons": {key: each.as_json() for key, each in self.comparisons.items()},
        }


def evaluate_method(
    path: Path,
    edition: Edition,
    truth: GroundTruth,
    wanted: Wanted,
    *,
    segmentation_classes: Sequence[str] | None,
    other_editions: Sequence[Edition],
    progress: Progress,
) -> Evaluated:
    """Score a method's results; see `read_for_scoring` for the arguments.

    Raises:
        MisuseError: there are too few test images for a bootstrap.
        OSError: the results cannot be read.
    """
    progress.stage("result files")
    read, confusions = read_for_scoring(
        path,
        edition,
        truth,
        segmentation_classes=segmentation_classes,
        other_editions=other_editions,
        progress=progress.advance,
        with_boundaries=wanted.diagnosis,
    )
    evaluation = score_results(read, edition, truth, confusions, progress=progress.advance)
    if (wanted.replicates is None and not wanted.diagnosis) or not read.is_valid:
        return Evaluated(evaluation, Findings(), read.groups)
    progress.stage("statistics")
    results = _with_every_metric(read.results) if wanted.diagnosis else read.results
    evidence = collect_evidence(results, edition, truth, confusions)
    findings = Findings(
        {}
        if wanted.replicates is None
        else _bootstraps(evidence, edition, wanted.replicates, with_every_metric=wanted.diagnosis),
        diagnosis(read.results, edition, truth, evidence, confusions=confusions) if wanted.diagnosis else {},
        _worst(read.results, edition, truth, confusions) if wanted.worst else {},
    )
    return Evaluated(evaluation, findings, read.groups)


def _with_every_metric(results: Results) -> Results:
    """Return the results for the collection of the evidence of all metrics that the task has."""
    return {key: replace(entry, competition=with_every_metric(entry.competition)) for key, entry in results.items()}


def _bootstraps(
    evidence: Mapping[str, Evidence], edition: Edition, replicates: int, *, with_every_metric: bool
) -> Mapping[str, Bootstrap]:
    """Return the bootstrap of each competition, in the edition's metrics or in all of the task.

    Raises:
        MisuseError: there are too few test images.
    """
    compute = bootstrap_every_metric if with_every_metric else bootstrap
    try:
        return {key: compute(each, edition, edition.competitions[key], replicates) for key, each in evidence.items()}
    except ValueError as error:
        raise MisuseError(f"no bootstrap is possible: {error}") from error


def _worst(
    results: Results, edition: Edition, truth: GroundTruth, confusions: Confusions
) -> Mapping[str, Mapping[str, list[WorstError]]]:
    """Return the worst errors of each competition that can be scored, by kind."""
    found = {}
    for key, entry in results.items():
        part = entry.competition.task, entry.competition.image_set
        if part in truth.truths:
            counts = confusions.counts(entry.competition)
            by_image = None if counts is None else counts.by_image
            found[key] = worst_errors(entry, truth.truths[part], edition, truth.image_sets.sets[part], by_image)
    return found
