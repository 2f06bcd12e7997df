"""Contents of a report: scores, intervals, and the diagnosis with its worst errors."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vocboard.evaluator.diagnosis.worst import WorstError
from vocboard.evaluator.editions import Edition
from vocboard.evaluator.evaluation import Evaluation
from vocboard.evaluator.statistics.bootstrap import Bootstrap


@dataclass(frozen=True, slots=True)
class Findings:
    """Statistics of the results on one image set, each by competition; empty if they were not asked for.

    Attributes:
        bootstraps: intervals of scores.
        diagnoses: see `evaluator.diagnosis.report`.
        worst: the worst errors by kind.
    """

    bootstraps: Mapping[str, Bootstrap] = field(default_factory=dict)
    diagnoses: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    worst: Mapping[str, Mapping[str, list[WorstError]]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Sources:
    """Input of the `vocboard view` pages next to a report.

    Attributes:
        tree: development kit tree, directory or archive.
        results: archive or directory of result files.
        editions: the edition for each image set.
    """

    tree: Path
    results: Path
    editions: Mapping[str, Edition]


@dataclass(frozen=True, slots=True)
class MethodReport:
    """Contents of the report on one method, by image set.

    Attributes:
        evaluations: the scores.
        findings: intervals and diagnoses.
        sources: what the pages of `vocboard view` are made from; None for a report without them.
    """

    evaluations: Mapping[str, Evaluation]
    findings: Mapping[str, Findings] = field(default_factory=dict)
    sources: Sources | None = None
