"""The definition of a task, for edition files, readers, pages and documentation."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

from vocboard.evaluator.metrics.shared_metrics import MetricDefinition
from vocboard.evaluator.names import CurveKind, Metric, Task
from vocboard.evaluator.rules import Interpolation, LayoutProtocol, TaskRules, WithoutPositives

AVERAGE_PRECISION_RULES = 'metric = "average_precision"\ninterpolation = "area"'
UNDEFINED = "is n/a and left out of the mean"
ZERO = "scores 0 and counts in the mean"


@dataclass(frozen=True, slots=True)
class StatisticsTable:
    """A table of the images and objects of each class.

    Attributes:
        title: over the table.
        objects: head of the column of objects; None where only images are counted.
        counts_truncated: whether organisers are told how many objects the annotations have as truncated.
    """

    title: str
    objects: str | None = "obj"
    counts_truncated: bool = False


class TaskDefinition(ABC):
    """A task. Each task has a subclass, with one instance in `evaluator.tasks.definitions`.

    `task`, `title`, `short_title`, `metrics`, `statistics` and `new_edition_rules` have no default.

    Attributes:
        task: its name.
        title: title for headings.
        short_title: title for tabs and columns.
        folder: folder of its image sets below `ImageSets/`.
        tree_folders: folders of a tree with its ground truth, in addition to `ImageSets`.
        metrics: metrics for ranking. Without a layout protocol, they can also be secondary.
        only_secondary: metrics that can be secondary, but not rank.
        needed_fields: required fields of result file names.
        possible_fields: optional fields of result file names, in addition to `competition` and `image_set`.
        needed_names: the key of the list of names that the task needs in an edition file in addition to `classes`, and
            the attribute of `Edition` with it.
        names_question: the question of `vocboard new-edition` about that list, and its default.
        class_noun: noun for scored names in messages.
        results_noun: plural noun for its results, on the pages of `vocboard view`.
        icon: elements of an SVG of 24 by 24 units, which pages draw in front of its title.
        content_is_lines: whether its result files are lines of text.
        has_class_lists: whether the tree can have a list of labels per class.
        size_file: file of a tree with the size of image `{}`, used before annotations and images.
        has_file_per_image: whether a competition has a label map (PNG) for each image, in its own folder.
        has_background: whether background is also scored.
        has_curves: whether there is a curve for each class.
        statistics: its table of images and objects; None if another task's table has the same numbers.
        new_edition_rules: its rules in the file of `vocboard new-edition`.
        needs_declared_classes: whether participants declare the classes entered, because files do not say.
    """

    task: ClassVar[Task]
    title: ClassVar[str]
    short_title: ClassVar[str]
    folder: ClassVar[str] = "Main"
    tree_folders: ClassVar[tuple[str, ...]] = ("Annotations",)
    metrics: ClassVar[Mapping[Metric, MetricDefinition]]
    only_secondary: ClassVar[Mapping[Metric, MetricDefinition]] = MappingProxyType({})
    needed_fields: ClassVar[frozenset[str]] = frozenset()
    possible_fields: ClassVar[frozenset[str]] = frozenset()
    needed_names: ClassVar[str | None] = None
    names_question: ClassVar[tuple[str, str]] = ("", "")
    class_noun: ClassVar[str] = "class"
    results_noun: ClassVar[str] = "confidences"
    icon: ClassVar[str] = '<path d="M4 12h5l3-7 3 14 2-7h3"/>'
    content_is_lines: ClassVar[bool] = True
    has_class_lists: ClassVar[bool] = False
    size_file: ClassVar[str | None] = None
    has_file_per_image: ClassVar[bool] = False
    has_background: ClassVar[bool] = False
    has_curves: ClassVar[bool] = True
    statistics: ClassVar[StatisticsTable | None]
    new_edition_rules: ClassVar[str]
    needs_declared_classes: ClassVar[bool] = False

    def __init__(self) -> None:
        """Check that no attribute is missing.

        Raises:
            TypeError: some are.
        """
        if missing := [name for name in TaskDefinition.__annotations__ if not hasattr(self, name)]:
            raise TypeError(f"{type(self).__name__} lacks {', '.join(missing)}")

    @abstractmethod
    def content(self, rules: TaskRules) -> str:
        """Describe the content of a result file, or of each line."""

    def scored_names(
        self, classes: tuple[str, ...], listed: tuple[str, ...], protocol: LayoutProtocol | None
    ) -> tuple[str, ...]:
        """Return the scored names, from an edition's classes and the list that the task needs."""
        return classes

    def secondary_metrics(self, protocol: LayoutProtocol | None) -> tuple[Metric, ...]:
        """Return the metrics that can be secondary metrics."""
        if protocol is None:
            return (*self.metrics, *self.only_secondary)
        return tuple(
            metric
            for metric, known in self.only_secondary.items()
            if known.protocols is None or protocol in known.protocols
        )

    def metric(self, metric: Metric) -> MetricDefinition:
        """Return the definition of one of the task's metrics.

        Raises:
            KeyError: it is another task's.
        """
        return self.metrics.get(metric) or self.only_secondary[metric]

    def has_one_file(self, rules: TaskRules) -> bool:
        """Whether one result file contains all classes of a competition."""
        return rules.class_in_lines

    def names_people(self, rules: TaskRules) -> bool:
        """Whether its image sets list people."""
        return False

    def score(self, rules: TaskRules) -> str:
        """Describe how a competition's score is computed."""
        definition = self.metric(rules.metric)
        title = definition.title
        if definition.curve is CurveKind.ROC:
            return " and ".join([title, *(self.metric(measure).title.lower() for measure in rules.board)])
        if not definition.uses_interpolation:
            return title
        sampled = rules.interpolation is Interpolation.ELEVEN_POINT
        return f"{title}, {'sampled at 11 points' if sampled else 'area under the curve'}"

    def without_positives(self, rules: TaskRules, metric: Metric | None = None) -> str:
        """Describe the score of a class without positives.

        Args:
            rules: of the task.
            metric: the metric. Default: the primary one.
        """
        metric = metric or rules.metric
        if (undefined := self.metric(metric).undefined) is not None:
            return undefined
        if self.metric(metric).curve is CurveKind.ROC:
            return f"A class without positives or without negatives {UNDEFINED}."
        is_sampled = self.metric(metric).uses_interpolation and rules.interpolation is Interpolation.ELEVEN_POINT
        zero = rules.without_positives is WithoutPositives.ZERO and is_sampled
        return f"A class without positives {ZERO if zero else UNDEFINED}."

    def classes_not_entered(self) -> str:
        """Describe how classes that were not entered affect scores; empty if they do not."""
        return ""
