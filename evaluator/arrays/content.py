"""Base class of the tasks' readers of arrays, and their context."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from vocboard.evaluator.arrays import problems as kinds
from vocboard.evaluator.arrays.boxes import BoxFormat
from vocboard.evaluator.arrays.values import Values
from vocboard.evaluator.problems import quoted
from vocboard.evaluator.result_files.items import Items
from vocboard.evaluator.result_files.report import FileReport
from vocboard.evaluator.results import Entry, SegmentationSink
from vocboard.evaluator.rules import Competition, Edition


@dataclass(frozen=True, eq=False, slots=True)
class Arrays:
    """The context for reading the arrays of one competition.

    Attributes:
        class_noun: noun for its scored names, for messages.
        items: the test items of the competition.
        box_format: format of all boxes; None if it was not given, for VOC's.
        first_label: number of the first class if labels are numbers.
        declared_classes: classes entered, if the arrays do not say.
        segmentation_sink: called with each valid label map; see `evaluator.reading.results.read_results`.
        new_report: returns a new report for the problems of one place.
    """

    competition: Competition
    edition: Edition
    class_noun: str
    items: Items
    box_format: BoxFormat | None
    first_label: int
    declared_classes: tuple[str, ...]
    segmentation_sink: SegmentationSink | None
    new_report: Callable[[str], FileReport]

    def values(self, *keys: object) -> Values:
        """Return a reader for one place: the competition's results, or the part at these keys."""
        return Values(self.new_report(self.place(*keys)), self.edition.limits)

    def place(self, *keys: object) -> str:
        """Return the name of a place, as an expression."""
        return self.competition.key + "".join(f"[{key!r}]" for key in keys)


class ArrayReader(ABC):
    """Reads results in memory. Each task has a subclass."""

    @abstractmethod
    def read(self, content: object, arrays: Arrays) -> Entry | None:
        """Return the same content as for result files; report problems and return None if it is invalid."""


def known_classes(content: Mapping[object, object], arrays: Arrays) -> tuple[str, ...]:
    """Return the classes among the keys of a mapping, in the edition's order; report other keys."""
    competition = arrays.competition
    values = arrays.values()
    for key in content:
        if key not in competition.classes:
            noun = arrays.class_noun
            a_noun = f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"
            expected = ", ".join(competition.classes)
            found = quoted(key) if isinstance(key, str) else repr(key)
            values.report.add(
                kinds.UNKNOWN_CLASS, found=found, a_noun=a_noun, competition=competition.key, expected=expected
            )
    if not content:
        values.wrong_structure(content, f"one of {', '.join(competition.classes)} at least")
    return tuple(name for name in competition.classes if name in content)
