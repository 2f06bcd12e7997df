"""Several methods of one competition compared in all metrics: the means, and each class."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.evidence.weights import SEED
from vocboard.evaluator.names import Metric
from vocboard.evaluator.statistics.bootstrap import Bootstrap
from vocboard.evaluator.statistics.comparison import Comparison, TooFewReplicatesError, compare, corrected_p_value
from vocboard.evaluator.statistics.intervals import LEVEL, ReplicatedMeasure, ReplicatedScore
from vocboard.evaluator.tasks.definitions import METRICS


@dataclass(frozen=True, eq=False, slots=True)
class ComparedMeasure:
    """One metric of several methods.

    Attributes:
        mean: of the methods that entered all classes that any of them entered, since means over other classes have no
            common scale. None if these, with a defined score, are fewer than two.
        per_class: of the methods with a defined score of the class; None as above. Intervals are corrected for the
            pairs of methods, not for the number of classes; `p_value_all_classes` is corrected for both.
    """

    mean: Comparison | None
    per_class: Mapping[str, Comparison | None]

    def as_json(self) -> dict[str, Any]:
        """Return all comparisons for JSON; None where there are fewer than two methods to compare."""
        return {
            "mean": None if self.mean is None else self.mean.as_json(),
            "per_class": {name: None if each is None else each.as_json() for name, each in self.per_class.items()},
        }


@dataclass(frozen=True, eq=False, slots=True)
class ComparedMethods:
    """Several methods of one competition.

    Attributes:
        images: number of test images.
        replicates: number of replicates, the same for all methods.
        measures: the primary metric first, then the others that have intervals.
    """

    images: int
    replicates: int
    measures: Mapping[Metric, ComparedMeasure]

    def as_json(self) -> dict[str, Any]:
        """Return the comparisons in all metrics, and how they were computed."""
        return {
            "resampled": "images",
            "images": self.images,
            "replicates": self.replicates,
            "seed": SEED,
            "level": LEVEL,
            "correction": "single-step max-T over all pairs of methods",
            "metrics": {metric.value: each.as_json() for metric, each in self.measures.items()},
        }


def compare_methods(bootstraps: Mapping[str, Bootstrap]) -> ComparedMethods:
    """Compare methods in all metrics that each of them has.

    Args:
        bootstraps: by method, of the same competition, test images and number of replicates; at least one.
    """
    by_method = {name: {**each.measures, **each.further} for name, each in bootstraps.items()}
    first, *others = by_method.values()
    of_any = next(iter(bootstraps.values()))
    return ComparedMethods(
        of_any.images,
        of_any.replicates,
        {
            metric: compare_measures({name: each[metric] for name, each in by_method.items()})
            for metric in first
            if all(metric in other for other in others)
        },
    )


def compare_measures(measures: Mapping[str, ReplicatedMeasure]) -> ComparedMeasure:
    """Compare methods in one metric.

    Args:
        measures: by method, of the same metric on the same replicates; at least one.
    """
    metric = next(iter(measures.values())).measure.metric
    entered = {name: each.measure.per_class.keys() for name, each in measures.items()}
    classes = list(dict.fromkeys(class_name for names in entered.values() for class_name in names))
    complete = {name: each.mean for name, each in measures.items() if len(entered[name]) == len(classes)}
    per_class = {
        class_name: _compare(
            {name: each.of_class(class_name) for name, each in measures.items() if class_name in entered[name]},
            metric,
        )
        for class_name in classes
    }
    return ComparedMeasure(_compare(complete, metric), corrected_for_classes(per_class))


def compare_class(measures: Mapping[str, ReplicatedMeasure], class_name: str) -> Comparison:
    """Compare methods in one class, with p-values that are corrected for all classes, too.

    Args:
        measures: by method, of the same metric on the same replicates.
        class_name: a class that all of them entered.

    Raises:
        ValueError: as for `compare`, which has no p-values of other classes.
        KeyError: a method did not enter the class.
    """
    metric = next(iter(measures.values())).measure.metric
    scores = {name: each.of_class(class_name) for name, each in measures.items()}
    found = compare(scores, higher_is_better=METRICS[metric].higher_is_better)
    return compare_measures(measures).per_class[class_name] or found


def corrected_for_classes(per_class: Mapping[str, Comparison | None]) -> Mapping[str, Comparison | None]:
    """Return the same with p-values that are corrected for the pairs of all classes.

    The replicates are the same in all classes. So the deviations of all pairs in all classes are compared with the
    largest of them in each replicate, as those of one class are.
    """
    known = {name: each for name, each in per_class.items() if each is not None and each.differences}
    if len(known) < 2:
        return per_class
    largest = np.fmax.reduce([each.pairs.largest for each in known.values()])
    return {**per_class, **{name: _with_p_values(each, largest) for name, each in known.items()}}


def _with_p_values(found: Comparison, largest: NDArray[np.float64]) -> Comparison:
    pairs, place = found.pairs, {method: number for number, method in enumerate(found.methods)}
    differences = {}
    for (one, other), each in found.differences.items():
        at = place[one], place[other]
        p_value = corrected_p_value(each.difference, float(pairs.error[at]), float(pairs.freedom[at]), largest)
        differences[one, other] = replace(each, p_value_all_classes=p_value)
    return replace(found, differences=differences)


def _compare(scores: Mapping[str, ReplicatedScore], metric: Metric) -> Comparison | None:
    """Compare the methods with a defined score; None if there are too few of them, or of replicates."""
    defined = {name: score for name, score in scores.items() if not score.is_undefined}
    if len(defined) < 2:
        return None
    try:
        return compare(defined, higher_is_better=METRICS[metric].higher_is_better)
    except TooFewReplicatesError:
        return None
