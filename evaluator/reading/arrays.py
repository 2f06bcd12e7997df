"""Reads arrays as the same columns as result files, and reports all problems."""

from collections.abc import Mapping, Sequence

from vocboard.evaluator.arrays import problems as kinds
from vocboard.evaluator.arrays.boxes import BOX_FORMATS, BoxFormat
from vocboard.evaluator.arrays.content import ArrayReader, Arrays
from vocboard.evaluator.arrays.values import described
from vocboard.evaluator.image_sets import ImageSets
from vocboard.evaluator.names import Task
from vocboard.evaluator.problems import quoted
from vocboard.evaluator.reading.results import ReadResults
from vocboard.evaluator.result_files.items import Items
from vocboard.evaluator.result_files.report import FileReport
from vocboard.evaluator.results import Entry, SegmentationSink
from vocboard.evaluator.rules import Competition, Edition
from vocboard.evaluator.tasks.definitions import TASKS
from vocboard.evaluator.tasks.parts import task_parts

_READERS: Mapping[Task, ArrayReader] = task_parts("arrays", ArrayReader)


def read_arrays(
    results: Mapping[str, object],
    edition: Edition,
    image_sets: ImageSets | None,
    *,
    box_format: BoxFormat | None = None,
    first_label: int = 1,
    segmentation_classes: Sequence[str] | None = None,
    segmentation_sink: SegmentationSink | None = None,
) -> ReadResults:
    """Read and check results in memory.

    Args:
        results: by competition; for the formats, see each task's `tasks/<task>/arrays.py`.
        edition: defines the competitions and classes.
        image_sets: without them, identifiers and sizes are not checked.
        box_format: format of all boxes; see `evaluator.arrays.boxes.to_voc`. Default: VOC's.
        first_label: number of the first class if labels are numbers.
        segmentation_classes: classes entered for segmentation. Default: all classes of the edition.
        segmentation_sink: called with each valid label map; see `evaluator.reading.results.read_results`.

    Raises:
        ValueError: `box_format` or `segmentation_classes` is invalid.
    """
    if box_format is not None and box_format not in BOX_FORMATS:
        raise ValueError(f"box_format is {box_format!r}; expected one of {', '.join(map(repr, BOX_FORMATS))}")
    declared = edition.classes if segmentation_classes is None else tuple(segmentation_classes)
    unknown = [name for name in declared if name not in edition.classes]
    if unknown:
        raise ValueError(f"{edition.name} has no class {unknown[0]!r}; it has {', '.join(edition.classes)}")
    reports: dict[str, FileReport] = {}

    def report_of(place: str) -> FileReport:
        return reports.setdefault(place, FileReport(place or None))

    general = report_of("")
    keys = ", ".join(edition.competitions)
    if not isinstance(results, Mapping):
        expected = f"a path, or a mapping with some of the keys {keys}"
        general.add(kinds.WRONG_STRUCTURE, found=described(results), expected=expected)
    elif not results:
        general.add(kinds.NO_RESULTS, edition=edition.name, expected=keys)
    entries: dict[str, Entry] = {}
    for key, content in results.items() if isinstance(results, Mapping) else ():
        competition = edition.competitions.get(key)
        if competition is None:
            found = quoted(key) if isinstance(key, str) else repr(key)
            general.add(kinds.UNKNOWN_COMPETITION, found=found, edition=edition.name, expected=keys)
            continue
        arrays = Arrays(
            competition=competition,
            edition=edition,
            class_noun=TASKS[competition.task].class_noun,
            items=_items(competition, image_sets),
            box_format=box_format,
            first_label=first_label,
            declared_classes=tuple(name for name in edition.classes if name in declared),
            segmentation_sink=segmentation_sink,
            new_report=report_of,
        )
        reader = _READERS.get(competition.task)
        if reader is None:  # of an extension
            report = report_of(key)
            report.add(kinds.WRONG_STRUCTURE, found=described(content), expected="result files, at a path")
        elif (entry := reader.read(content, arrays)) is not None:
            entries[key] = entry
    ordered = {key: entries[key] for key in edition.competitions if key in entries}
    return ReadResults(ordered, tuple(problem for report in reports.values() for problem in report.problems()))


def _items(competition: Competition, image_sets: ImageSets | None) -> Items:
    known = {} if image_sets is None else image_sets.sets
    return Items.among(competition.task, competition.image_set, known)
