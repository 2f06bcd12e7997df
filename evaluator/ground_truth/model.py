"""How the parts of ground truth are named."""

from vocboard.evaluator.tasks.names import Task

Key = tuple[Task, str]  # task and image set, such as (Task.DETECTION, "test")
