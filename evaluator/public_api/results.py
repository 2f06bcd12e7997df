"""The return values of `vocboard.evaluate` and `vocboard.validate`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.evaluation import Evaluation
from vocboard.evaluator.evidence.weights import REPLICATES
from vocboard.evaluator.problems import Problem, Severity, counted, has_errors
from vocboard.evaluator.public_api.errors import located
from vocboard.evaluator.public_api.statistics import Statistics
from vocboard.evaluator.public_api.tables import problems_table, scores_table, summary_table, validation_table
from vocboard.evaluator.results import Results
from vocboard.evaluator.scores import AnyCurve, ClassDetails, CompetitionScores, Measure
from vocboard.evaluator.statistics.bootstrap import Bootstrap


class CompetitionResult:
    """The scores of one competition. Notebooks show them as a table."""

    def __init__(self, edition: str, scores: CompetitionScores, statistics: Statistics | None = None) -> None:
        """Take the scores, and what statistics need; None if they are not possible."""
        self.edition = edition
        self._scores = scores
        self._statistics = statistics

    @property
    def competition(self) -> str:
        """The competition's key, for example `comp4`."""
        return self._scores.competition

    @property
    def task(self) -> str:
        """The task, for example `detection`."""
        return self._scores.task.value

    @property
    def metric(self) -> str:
        """The primary metric, for example `average_precision`."""
        return self._scores.primary.metric.value

    @property
    def mean(self) -> float:
        """The mean over the classes for which the metric is defined, a fraction; NaN if there are none."""
        return self._scores.primary.mean

    @property
    def per_class(self) -> Mapping[str, float]:
        """The score of each class entered, a fraction, in the edition's order; NaN if undefined."""
        return MappingProxyType(dict(self._scores.primary.per_class))

    @property
    def secondary(self) -> Mapping[str, Measure]:
        """Secondary metrics by name, each with `per_class` and `mean`."""
        return MappingProxyType({measure.metric.value: measure for measure in self._scores.secondary})

    @property
    def details(self) -> Mapping[str, ClassDetails]:
        """Counts by class: `positives`, `results`, `final_recall`, `final_precision`."""
        return MappingProxyType(dict(self._scores.details))

    @property
    def confusion_matrix(self) -> NDArray[np.int64] | None:
        """(n + 1, n + 1) pixels; rows are ground truth, columns results, background first. Segmentation only."""
        return self._scores.confusion_matrix

    @property
    def not_entered(self) -> tuple[str, ...]:
        """Classes without results, which are not in the mean."""
        return self._scores.not_entered

    @property
    def curves(self) -> Mapping[str, AnyCurve]:
        """Curves by class; see `curve`."""
        return MappingProxyType(dict(self._scores.curves))

    def curve(self, name: str) -> AnyCurve:
        """Return the curve from which a class's score is computed.

        Returns:
            A curve with `recall` and `precision`, (n,) at every rank, by decreasing score. For metrics from a receiver
            operating characteristic (VOC2005, VOC2006), `false_positive_rate` and `true_positive_rate`.

        Raises:
            KeyError: there is no such class, it has no results, or the task has no curves.
        """
        found = self._scores.curves.get(name)
        if found is None:
            has = f"it has {', '.join(self._scores.curves)}" if self._scores.curves else f"{self.task} has none"
            raise KeyError(f"{self.competition} has no curve of {name!r}; {has}")
        return found

    def bootstrap(self, replicates: int = REPLICATES) -> Bootstrap:
        """Return the 95 % intervals of the scores, by the bootstrap over test images; docs/statistics.md explains them.

        Args:
            replicates: number of replicates.

        Returns:
            An object with `mean` and `per_class`, each interval with `low`, `high`, `standard_error` and `bias`.

        Raises:
            ValueError: there are fewer than two test images.
        """
        if self._statistics is None:
            raise ValueError("only results of vocboard.evaluate have intervals")
        return self._statistics.bootstrap(self.competition, replicates)

    def diagnose(self) -> dict[str, Any]:
        """Return the kinds of errors, and what the score would be without them; docs/statistics.md explains them.

        Returns:
            What `vocboard evaluate --diagnose --json` prints, without what is near boundaries.

        Raises:
            ValueError: the task has no diagnosis.
        """
        if self._statistics is None:
            raise ValueError("only results of vocboard.evaluate have a diagnosis")
        return self._statistics.diagnosis(self.competition)

    @property
    def ground_truth(self) -> str | None:
        """The hexadecimal SHA-256 of the ground truth, which is the same for results that can be compared."""
        return None if self._statistics is None else self._statistics.ground_truth

    def to_dict(self) -> dict[str, Any]:
        """Return everything except the curves, for JSON: fractions at full precision, None for undefined values."""
        return self._scores.as_json()

    def __repr__(self) -> str:
        classes = counted(len(self._scores.primary.per_class), "class", "classes")
        return f"<{self.edition} {self.competition} {self.task}: mean {self.metric} {self.mean:.4f} of {classes}>"

    def _repr_html_(self) -> str:
        return scores_table(self.edition, self._scores)


class EvaluationResult(Mapping[str, CompetitionResult]):
    """Scores by competition. Notebooks show them as tables.

    For results of a single competition, `mean`, `per_class` and `curve` refer to that competition.

    Attributes:
        edition: name of the edition.
        problems: warnings; results with errors are not scored.
        unavailable: competitions that could not be scored because the ground truth lacks their task.
    """

    def __init__(self, evaluation: Evaluation, statistics: Statistics | None = None) -> None:
        """Take the scores, and what statistics need."""
        self._evaluation = evaluation
        self._results = {
            key: CompetitionResult(evaluation.edition, each, statistics) for key, each in evaluation.scores.items()
        }
        self.edition = evaluation.edition
        self.problems = evaluation.problems
        self.unavailable = evaluation.unavailable

    def __getitem__(self, key: str) -> CompetitionResult:
        if key in self._results:
            return self._results[key]
        if key in self.unavailable:
            raise KeyError(f"{key} was not scored: the ground truth has nothing on its task")
        raise KeyError(f"no results for {key!r}; there are {', '.join(self._results) or 'none'}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)

    @property
    def mean(self) -> float:
        """The mean of the only competition; see `CompetitionResult.mean`."""
        return self.only.mean

    @property
    def per_class(self) -> Mapping[str, float]:
        """The scores of the only competition; see `CompetitionResult.per_class`."""
        return self.only.per_class

    def curve(self, name: str) -> AnyCurve:
        """Return a curve of the only competition; see `CompetitionResult.curve`."""
        return self.only.curve(name)

    def bootstrap(self, replicates: int = REPLICATES) -> Bootstrap:
        """Return the intervals of the only competition; see `CompetitionResult.bootstrap`."""
        return self.only.bootstrap(replicates)

    def to_dict(self) -> dict[str, Any]:
        """Return what `vocboard evaluate --json` prints."""
        return self._evaluation.as_json()

    def __repr__(self) -> str:
        return "\n".join(map(repr, self._results.values())) or f"<{self.edition}: nothing scored>"

    def _repr_html_(self) -> str:
        tables = [each._repr_html_() for each in self._results.values()]
        return "".join([summary_table(self._evaluation), *tables, problems_table(self.problems)])

    @property
    def only(self) -> CompetitionResult:
        """The result of the only competition.

        Raises:
            ValueError: there are several, or none.
        """
        if len(self._results) != 1:
            keys, first = ", ".join(self._results) or "none", next(iter(self._results), "comp4")
            raise ValueError(
                f"these are results of several competitions ({keys}); choose one, such as result[{first!r}]"
            )
        return next(iter(self._results.values()))


@dataclass(frozen=True, eq=False)
class ValidationResult:
    """The validation report of results. Notebooks show it as a table.

    Attributes:
        edition: name of the edition.
        competitions: the competitions that the results are for.
        problems: errors and warnings.
        items_checked: whether image identifiers and sizes were checked.
    """

    edition: str
    competitions: tuple[str, ...]
    problems: tuple[Problem, ...]
    items_checked: bool

    @classmethod
    def of(
        cls, edition: str, results: Results, problems: tuple[Problem, ...], items_checked: bool
    ) -> "ValidationResult":
        """Return the report of results that were read."""
        return cls(edition, tuple(results), problems, items_checked)

    @property
    def is_valid(self) -> bool:
        """Whether a server would accept the results: there are no errors."""
        return not has_errors(self.problems)

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The problems that make the results invalid."""
        return tuple(problem for problem in self.problems if problem.severity is Severity.ERROR)

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """The problems that do not change scores."""
        return tuple(problem for problem in self.problems if problem.severity is Severity.WARNING)

    def to_dict(self) -> dict[str, Any]:
        """Return the report for JSON."""
        return {
            "edition": self.edition,
            "valid": self.is_valid,
            "competitions": list(self.competitions),
            "problems": [problem.as_json() for problem in self.problems],
        }

    def __repr__(self) -> str:
        counts = f"{counted(len(self.errors), 'error')}, {counted(len(self.warnings), 'warning')}"
        head = f"<{self.edition} {', '.join(self.competitions)}: {'valid' if self.is_valid else 'not valid'}, {counts}>"
        return "\n".join([head, *(f"  {each.severity.value}: {located(each)}" for each in self.problems)])

    def _repr_html_(self) -> str:
        return validation_table(self.edition, self.competitions, self.is_valid, self.problems)
