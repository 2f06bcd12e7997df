"""Definition of action classification."""

from vocboard.evaluator.names import Task
from vocboard.evaluator.rules import LayoutProtocol, TaskRules
from vocboard.evaluator.tasks.classification.definition import METRICS_OF_LABELS, ONLY_SECONDARY_OF_LABELS
from vocboard.evaluator.tasks.definition import AVERAGE_PRECISION_RULES, StatisticsTable, TaskDefinition


class Action(TaskDefinition):
    """Action classification, with or without the boxes of people."""

    task = Task.ACTION
    title = "Action classification"
    short_title = "Action"
    folder = "Action"
    metrics = METRICS_OF_LABELS
    only_secondary = ONLY_SECONDARY_OF_LABELS
    needed_fields = frozenset({"class"})
    needed_names = "actions"
    names_question = "Actions of people", "walking, riding"
    class_noun = "action"
    icon = '<circle cx="14" cy="4.500" r="2"/><path d="m6 11 5-3 3 5 5 1M11 8l-1 7-5 5m5-5 4 2v4"/>'
    has_class_lists = True
    statistics = StatisticsTable("action", objects="people")
    new_edition_rules = 'file = "Action/{competition}_action_{image_set}_{class}.txt"\n' + AVERAGE_PRECISION_RULES

    def content(self, rules: TaskRules) -> str:
        """Return the line of a result file."""
        return "<image> <object index> <confidence>"

    def scored_names(
        self, classes: tuple[str, ...], listed: tuple[str, ...], protocol: LayoutProtocol | None
    ) -> tuple[str, ...]:
        """Return the actions."""
        return listed

    def names_people(self, rules: TaskRules) -> bool:
        """Whether image sets name people: always."""
        return True
