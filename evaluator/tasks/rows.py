"""How results are shown as rows, by task; label maps are shown as pictures instead."""

from collections.abc import Mapping

from vocboard.evaluator.names import Task
from vocboard.evaluator.tasks.definitions import TASKS
from vocboard.evaluator.tasks.parts import task_parts
from vocboard.evaluator.tasks.task_rows import TaskRows

ROWS: Mapping[Task, TaskRows] = task_parts(
    "rows", TaskRows, [task for task, each in TASKS.items() if not each.has_file_per_image]
)
