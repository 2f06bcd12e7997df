"""Keys of the parts of ground truth."""

from vocboard.evaluator.tasks.names import Task

Key = tuple[Task, str]  # task and image set, for example (Task.DETECTION, "test")
