"""Consistency checks of edition files: names, result file names, and metrics of a task."""

import re
from collections.abc import Iterable, Mapping, Sequence
from string import Formatter

from vocboard.evaluator import extensions
from vocboard.evaluator.editions.tables import Table, meant
from vocboard.evaluator.extensions import Group
from vocboard.evaluator.names import Metric, Task
from vocboard.evaluator.rules import Competition, LayoutProtocol
from vocboard.evaluator.tasks.definitions import METRICS, TASKS

# Names are used in file names, in comma-separated lists, and in headings.
_CLASS = re.compile(r"""[^\W_][^\s/\\<>:"|?*{},]{0,59}""")
_PATH = re.compile(r"[A-Za-z0-9._-]+(?:/[A-Za-z0-9._-]+)*")
_OPTIONAL_FIELDS = frozenset({"competition", "image_set"})


def check_names(table: Table, key: str, names: Iterable[str]) -> None:
    """Report invalid names of classes, parts and actions."""
    seen: set[str] = set()
    for name in names:
        if not (_CLASS.fullmatch(name) and name.isprintable()) or name == "background":
            expected = 'a list of names without spaces, commas, slashes and any of : * ? " < > | { }, none "background"'
            table.fail(key, f"{expected}, each at most 60 characters long and with a letter or digit first")
        if name.lower() in seen:
            table.fail(key, "a list of names that differ by more than upper and lower case")
        seen.add(name.lower())


def file_pattern(table: Table, task: Task) -> str:
    """Return the pattern of a task's result files."""
    pattern = table.text("file")
    if not table.is_sound("file"):
        return pattern
    definition = TASKS[task]
    needed = definition.needed_fields
    possible = needed | definition.possible_fields | _OPTIONAL_FIELDS
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
    if definition.has_file_per_image and ("{image}" not in pattern.rpartition("/")[2] or "/" not in pattern):
        table.fail("file", "a folder for each competition, then {image} in the name of the file")
    return pattern


def measures(
    table: Table, task: Task, protocol: LayoutProtocol | None
) -> tuple[Metric, tuple[Metric, ...], tuple[Metric, ...]]:
    """Return the metric of a task, its secondary metrics, and those shown on leaderboards."""
    primary, others = tuple(TASKS[task].metrics), TASKS[task].secondary_metrics(protocol)
    metric = table.choice("metric", primary)
    secondary = _metrics(table, "secondary", others)
    if table.is_sound("metric", "secondary") and metric in secondary:
        table.fail("secondary", "other measures than the metric")
    for key, chosen in (("metric", (metric,)), ("secondary", secondary)):
        for each in chosen:
            if (why := extensions.why_not(Group.METRICS, each)) is not None:
                table.fail(key, "what can be computed", f" {why}")
    shown = tuple(each for each in secondary if not METRICS[each].needs_public_ground_truth)
    return metric, secondary, _metrics(table, "board", shown)


def check_files_differ(competitions: Iterable[Competition], tasks: Mapping[Task, Table]) -> None:
    """Report result file names that do not identify the competition.

    Folders only count for tasks with a file per image, because otherwise archives may leave them out.
    """
    owner: dict[tuple[bool, str], Competition] = {}
    for competition in competitions:
        rules, table = competition.rules, tasks[competition.task]
        if not table.is_sound("file"):
            continue
        for name in _names(competition):
            other = owner.setdefault((TASKS[rules.task].has_file_per_image, name.lower()), competition)
            if other is not competition:
                apart = f"{other.key} from {competition.key}"
                table.fail("file", f"a file name that tells {apart}, by {{competition}} or {{image_set}}")
                return


def _names(competition: Competition) -> list[str]:
    """Return the last part of the names of its files, or of their folder for tasks with a file per image."""
    rules = competition.rules
    begun = rules.file.replace("{competition}", competition.key).replace("{image_set}", competition.image_set)
    if TASKS[rules.task].has_file_per_image:
        return [begun.rpartition("/")[0].rpartition("/")[2]]
    last = begun.rpartition("/")[2]
    return [last.replace("{class}", name) for name in rules.classes] if "{class}" in last else [last]


def _metrics(table: Table, key: str, known: Sequence[Metric]) -> tuple[Metric, ...]:
    metrics = table.texts(key, known) if table.has(key) else ()
    unknown = [metric for metric in metrics if metric not in set(known)]
    if table.is_sound(key) and unknown:
        expected = ", ".join(known) or "the secondary measures, of which there are none"
        table.fail(key, f"names out of {expected}", meant(unknown[0], known))
    return tuple(Metric(metric) for metric in metrics if metric in set(Metric))
