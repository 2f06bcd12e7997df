"""What must fit together in an edition file: names, names of result files, and the measures of a task."""

import re
from collections.abc import Iterable, Mapping
from string import Formatter

from evaluator.editions.tables import Table
from evaluator.rules import Competition, LayoutProtocol, Metric, Task

# Names stand in names of files, in lists parted by commas, and in headings.
_CLASS = re.compile(r"""[^\W_][^\s/\\<>:"|?*{},]{0,59}""")
_PATH = re.compile(r"[A-Za-z0-9._-]+(?:/[A-Za-z0-9._-]+)*")
_NEEDED_FIELDS: Mapping[Task, frozenset[str]] = {  # of a result file's name; `competition` and `image_set` are optional
    Task.CLASSIFICATION: frozenset({"class"}),
    Task.DETECTION: frozenset(),
    Task.SEGMENTATION: frozenset({"image"}),
    Task.LAYOUT: frozenset(),
    Task.ACTION: frozenset({"class"}),
}
_OPTIONAL_FIELDS = frozenset({"competition", "image_set"})
_OF_LABELS = (
    Metric.AVERAGE_PRECISION,
    Metric.AVERAGE_PRECISION_AREA,
    Metric.AVERAGE_PRECISION_WITH_DIFFICULT,
    Metric.ROC_AUC,
    Metric.EQUAL_ERROR_RATE,
)
_MEASURES: Mapping[Task, tuple[Metric, ...]] = {
    Task.CLASSIFICATION: _OF_LABELS,
    Task.DETECTION: (
        Metric.AVERAGE_PRECISION,
        Metric.AVERAGE_PRECISION_AREA,
        Metric.AVERAGE_PRECISION_WITH_DIFFICULT,
    ),
    Task.SEGMENTATION: (Metric.INTERSECTION_OVER_UNION, Metric.PIXEL_ACCURACY),
    Task.LAYOUT: (Metric.AVERAGE_PRECISION, Metric.AVERAGE_PRECISION_AREA),
    Task.ACTION: _OF_LABELS,
}
_OTHER_MEASURES_OF_LAYOUT: Mapping[LayoutProtocol, tuple[Metric, ...]] = {
    LayoutProtocol.PARTS: (Metric.WHOLE_PERSON_AVERAGE_PRECISION,),
    LayoutProtocol.WHOLE_PERSON_BY_INDEX_IN_FILE_ORDER: (Metric.AVERAGE_PRECISION_BY_CONFIDENCE,),
}


def check_names(table: Table, key: str, names: Iterable[str]) -> None:
    """Note classes, parts or actions whose names cannot stand where names stand."""
    seen: set[str] = set()
    for name in names:
        if not (_CLASS.fullmatch(name) and name.isprintable()) or name == "background":
            expected = 'a list of names without spaces, commas, slashes and any of : * ? " < > | { }, none "background"'
            table.fail(key, f"{expected}, each at most 60 characters long and with a letter or digit first")
        if name.lower() in seen:
            table.fail(key, "a list of names that differ by more than upper and lower case")
        seen.add(name.lower())


def file_pattern(table: Table, task: Task) -> str:
    """The pattern of a task's result files."""
    pattern = table.text("file")
    if not table.is_sound("file"):
        return pattern
    needed, possible = _NEEDED_FIELDS[task], _NEEDED_FIELDS[task] | _OPTIONAL_FIELDS
    if task is Task.DETECTION:
        possible |= {"class"}
    try:
        parsed = list(Formatter().parse(pattern))
    except ValueError:
        parsed = [("", pattern, "", None)]
    found = {name for _, name, _, _ in parsed if name is not None}
    is_plain = not any(specification or conversion for _, _, specification, conversion in parsed)
    if not (needed <= found <= possible and is_plain):
        listed = ", ".join(f"{{{name}}}" for name in sorted(possible))
        table.fail("file", f"a file name with {'the fields' if needed else 'fields out of'} {listed}")
        return pattern
    example = pattern.format_map(dict.fromkeys(possible, "x"))
    if not _PATH.fullmatch(example) or {".", ".."} & set(example.split("/")):
        table.fail("file", "a file name of letters, digits, dots, hyphens and underscores, folders parted by /")
    if task is Task.SEGMENTATION and ("{image}" not in pattern.rpartition("/")[2] or "/" not in pattern):
        table.fail("file", "a folder for each competition, then {image} in the name of the file")
    return pattern


def measures(
    table: Table, task: Task, protocol: LayoutProtocol | None
) -> tuple[Metric, tuple[Metric, ...], tuple[Metric, ...]]:
    """The metric of a task, its secondary measures, and those of them that boards show."""
    primary = _MEASURES[task]
    others = primary if protocol is None else _OTHER_MEASURES_OF_LAYOUT.get(protocol, ())
    metric = table.choice("metric", Metric) if table.has("metric") else primary[0]
    if not table.has("metric") or (table.is_sound("metric") and metric not in primary):
        table.fail("metric", "one of " + ", ".join(primary))
    secondary = _metrics(table, "secondary", others)
    if table.is_sound("metric", "secondary") and metric in secondary:
        table.fail("secondary", "other measures than the metric")
    return metric, secondary, _metrics(table, "board", secondary)


def check_files_differ(competitions: Iterable[Competition], tasks: Mapping[Task, Table]) -> None:
    """Note names of result files that do not tell which competition a file is for.

    Folders do not count but for segmentations: they may be left out of an archive.
    """
    owner: dict[tuple[bool, str], Competition] = {}
    for competition in competitions:
        rules, table = competition.rules, tasks[competition.task]
        if not table.is_sound("file"):
            continue
        for name in _names(competition):
            other = owner.setdefault((rules.task is Task.SEGMENTATION, name.lower()), competition)
            if other is not competition:
                apart = f"{other.key} from {competition.key}"
                table.fail("file", f"a file name that tells {apart}, by {{competition}} or {{image_set}}")
                return


def _names(competition: Competition) -> list[str]:
    """The last part of the name of each of its files; of segmentations, that of their folder."""
    rules = competition.rules
    begun = rules.file.replace("{competition}", competition.key).replace("{image_set}", competition.image_set)
    if rules.task is Task.SEGMENTATION:
        return [begun.rpartition("/")[0].rpartition("/")[2]]
    last = begun.rpartition("/")[2]
    return [last.replace("{class}", name) for name in rules.classes] if "{class}" in last else [last]


def _metrics(table: Table, key: str, known: Iterable[Metric]) -> tuple[Metric, ...]:
    metrics = table.texts(key) if table.has(key) else ()
    if table.is_sound(key) and not set(metrics) <= set(known):
        table.fail(key, "names out of " + (", ".join(known) or "the secondary measures, of which there are none"))
    return tuple(Metric(metric) for metric in metrics if metric in set(Metric))
