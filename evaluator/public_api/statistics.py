"""Statistics of results: intervals of scores."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from vocboard.evaluator.diagnosis.report import diagnosis
from vocboard.evaluator.evaluation import Confusions
from vocboard.evaluator.evidence.evidence import Evidence
from vocboard.evaluator.ground_truth import GroundTruth
from vocboard.evaluator.names import Task
from vocboard.evaluator.results import Results
from vocboard.evaluator.rules import Edition
from vocboard.evaluator.statistics.bootstrap import Bootstrap, bootstrap
from vocboard.evaluator.statistics.collect import collect_evidence


class Statistics:
    """Computes statistics of results that were scored, when they are asked for."""

    def __init__(self, results: Results, edition: Edition, truth: GroundTruth, confusions: Confusions) -> None:
        """Take what was scored."""
        self._results, self._edition, self._truth, self._confusions = results, edition, truth, confusions
        self._bootstraps: dict[tuple[str, int], Bootstrap] = {}

    @property
    def ground_truth(self) -> str:
        """The hexadecimal SHA-256 of the ground truth."""
        return self._truth.sha256

    @cached_property
    def evidence(self) -> Mapping[str, Evidence]:
        """The evidence for the scores, by competition."""
        return collect_evidence(self._results, self._edition, self._truth, self._confusions)

    def bootstrap(self, competition: str, replicates: int) -> Bootstrap:
        """Return the replicates of a competition's scores.

        Raises:
            ValueError: there are fewer than two test images or two replicates.
        """
        key = competition, replicates
        if key not in self._bootstraps:
            rules = self._edition.competitions[competition]
            self._bootstraps[key] = bootstrap(self.evidence[competition], self._edition, rules, replicates)
        return self._bootstraps[key]

    def diagnosis(self, competition: str) -> dict[str, Any]:
        """Return the diagnosis of a competition.

        Raises:
            ValueError: its task has none.
        """
        evidence = {competition: self.evidence[competition]}
        found = diagnosis(self._results, self._edition, self._truth, evidence)
        if competition not in found:
            task = self._results[competition].competition.task
            raise ValueError(
                "layouts of whole people have no diagnosis" if task is Task.LAYOUT else f"{task} has no diagnosis"
            )
        return found[competition]
