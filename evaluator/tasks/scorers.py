"""The scorer of each task."""

from collections.abc import Mapping
from typing import Any

from vocboard.evaluator import extensions
from vocboard.evaluator.names import Metric, Task
from vocboard.evaluator.tasks.parts import modules_of_metrics, task_parts
from vocboard.evaluator.tasks.ranked_scorer import RankedScorer
from vocboard.evaluator.tasks.scorer import Scorer

SCORERS: Mapping[Task, Scorer[Any]] = task_parts("scoring", Scorer)


def _add_metrics() -> None:
    """Add the metrics of extensions to the scorers of the built-in tasks that they are for."""
    for addition, module in modules_of_metrics("metrics"):
        with extensions.reporting(addition):
            for task, added in module.BY_CLASS.items():
                scorer = SCORERS[Task(task)]
                if not isinstance(scorer, RankedScorer):
                    raise TypeError(f"{task} has no ranked results, to which metrics can be added")
                known = {Metric(metric): function for metric, function in added.items()}
                type(scorer).by_class = {**scorer.by_class, **known}


_add_metrics()
