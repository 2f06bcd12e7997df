"""What a report shows besides scores: intervals, and the diagnosis with its worst errors."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vocboard.evaluator.diagnosis.worst import WorstError
from vocboard.evaluator.editions import Edition
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
    """What the pages of `vocboard view` beside a report are made from.

    Attributes:
        tree: development kit tree, directory or archive.
        results: archive or directory of result files.
        editions: the edition for each image set.
    """

    tree: Path
    results: Path
    editions: Mapping[str, Edition]
