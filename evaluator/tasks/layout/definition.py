"""Definition of person layout."""

from types import MappingProxyType

from vocboard.evaluator.metrics.shared_metrics import MetricDefinition, shared
from vocboard.evaluator.names import Metric, Task
from vocboard.evaluator.rules import LayoutProtocol, TaskRules
from vocboard.evaluator.tasks.definition import AVERAGE_PRECISION_RULES, StatisticsTable, TaskDefinition

PERSON = "person"  # the scored class for whole people


class Layout(TaskDefinition):
    """Person layout."""

    task = Task.LAYOUT
    title = "Person layout"
    short_title = "Layout"
    folder = "Layout"
    results_noun = "parts"
    metrics = MappingProxyType(shared(Metric.AVERAGE_PRECISION, Metric.AVERAGE_PRECISION_AREA))
    only_secondary = MappingProxyType(
        {
            Metric.AVERAGE_PRECISION_BY_CONFIDENCE: MetricDefinition(
                "Average precision, ranked by confidence",
                "AP by confidence",
                uses_interpolation=True,
                protocols=frozenset({LayoutProtocol.WHOLE_PERSON_BY_INDEX_IN_FILE_ORDER}),
            ),
            Metric.WHOLE_PERSON_AVERAGE_PRECISION: MetricDefinition(
                "Average precision of whole people",
                "AP, whole person",
                uses_interpolation=True,
                protocols=frozenset({LayoutProtocol.PARTS}),
            ),
            **shared(Metric.BEST_F1),
        }
    )
    icon = '<path d="M5 2.5h14v19H5z"/><circle cx="12" cy="7.5" r="2"/><path d="M8 13h8M9.500 17.500h1.500m2 0h1.500"/>'
    needed_names = "parts"
    names_question = "Parts of people", "head, hand, foot"
    content_is_lines = False
    statistics = StatisticsTable("layout", objects="parts")
    new_edition_rules = (
        'file = "Layout/{competition}_layout_{image_set}.xml"\n' + AVERAGE_PRECISION_RULES + '\nprotocol = "parts"'
    )

    def content(self, rules: TaskRules) -> str:
        """Return the elements of a result file."""
        person = "<object/>" if self.names_people(rules) else "<bndbox>…</bndbox>"
        return f"<results><layout><image/>{person}<confidence/><part>…</part></layout>…</results>"

    def scored_names(
        self, classes: tuple[str, ...], listed: tuple[str, ...], protocol: LayoutProtocol | None
    ) -> tuple[str, ...]:
        """Return the part types, or `person` if whole people are scored."""
        return listed if protocol is LayoutProtocol.PARTS else (PERSON,)

    def has_one_file(self, rules: TaskRules) -> bool:
        """Whether one result file holds all part types: always."""
        return True

    def names_people(self, rules: TaskRules) -> bool:
        """Whether image sets list people; in VOC2007 they only list images, and layouts identify people by box."""
        return rules.layout_protocol is not LayoutProtocol.WHOLE_PERSON_BY_BOX
