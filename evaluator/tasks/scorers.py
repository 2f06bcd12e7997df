"""The scorer of each task."""

from collections.abc import Mapping
from typing import Any

from vocboard.evaluator.names import Task
from vocboard.evaluator.tasks.parts import task_parts
from vocboard.evaluator.tasks.scorer import Scorer

SCORERS: Mapping[Task, Scorer[Any]] = task_parts("scoring", Scorer)
