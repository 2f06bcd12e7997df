"""The registry of tasks, first part: what each is to pages, documentation and edition files."""

from collections.abc import Mapping

from evaluator.rules import Task
from evaluator.tasks.action.definition import Action
from evaluator.tasks.classification.definition import Classification
from evaluator.tasks.definition import TaskDefinition
from evaluator.tasks.detection.definition import Detection
from evaluator.tasks.instance_segmentation.definition import InstanceSegmentation
from evaluator.tasks.layout.definition import Layout
from evaluator.tasks.segmentation.definition import Segmentation

_DEFINITIONS = (Classification(), Detection(), Segmentation(), Layout(), Action(), InstanceSegmentation())
TASKS: Mapping[Task, TaskDefinition] = {definition.task: definition for definition in _DEFINITIONS}
PARTIAL_ENTRIES = (
    "Any subset of the classes may be entered. The mean is then over the classes entered, and the entry ranks after "
    "those that enter all classes."
)
