"""Definitions of tasks and of their metrics."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from vocboard.evaluator import extensions
from vocboard.evaluator.metrics.shared_metrics import SHARED_METRICS, MetricDefinition
from vocboard.evaluator.names import Metric, Task
from vocboard.evaluator.rules import Edition, Overlap
from vocboard.evaluator.tasks.definition import TaskDefinition
from vocboard.evaluator.tasks.parts import modules_of_metrics, task_parts

TASKS: Mapping[Task, TaskDefinition] = task_parts("definition", TaskDefinition)


def _add_metrics() -> None:
    """Add the metrics of extensions to the built-in tasks that they are for."""
    for addition, module in modules_of_metrics("definition"):
        with extensions.reporting(addition):
            for table in ("metrics", "only_secondary"):
                for task, added in getattr(module, table.upper(), {}).items():
                    definition = type(TASKS[Task(task)])
                    known = {Metric(metric): of for metric, of in added.items()}
                    setattr(definition, table, MappingProxyType({**getattr(definition, table), **known}))


_add_metrics()
METRICS: Mapping[Metric, MetricDefinition] = {**SHARED_METRICS} | {
    metric: known
    for definition in TASKS.values()
    for metric, known in {**definition.metrics, **definition.only_secondary}.items()
}
PARTIAL_ENTRIES = (
    "Any subset of the classes may be entered. The mean is then over the classes entered, and the entry ranks after "
    "those that enter all classes."
)


def name_lists() -> tuple[str, ...]:
    """Return the keys of the lists of names that tasks need in addition to `classes`: attributes of `Edition`."""
    needed = (definition.needed_names for definition in TASKS.values())
    return tuple(dict.fromkeys(key for key in needed if key is not None))


def overlap_of(metric: Metric, edition: Edition) -> Overlap:
    """Return the overlap that a metric requires: its own threshold, or the edition's if it has none."""
    own = METRICS[metric].overlap
    return edition.overlap if own is None else replace(edition.overlap, threshold=own)
