"""Edition files: TOML beside this module, read into `Edition` with every mistake named by its place."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import fields
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any

from evaluator.editions.model import (
    ROC_METRICS,
    AnnotationFormat,
    Annotations,
    Competition,
    Edition,
    Interpolation,
    LayoutProtocol,
    Limits,
    Metric,
    Overlap,
    Task,
    TaskRules,
    Training,
)
from evaluator.editions.tables import EditionFileError, Table

_DIRECTORY = Path(__file__).parent

_NEEDED_FIELDS: Mapping[Task, frozenset[str]] = {  # of a result file's name; `competition` and `image_set` are optional
    Task.CLASSIFICATION: frozenset({"class"}),
    Task.DETECTION: frozenset(),
    Task.SEGMENTATION: frozenset({"image"}),
    Task.LAYOUT: frozenset(),
    Task.ACTION: frozenset({"class"}),
}
_OPTIONAL_FIELDS = frozenset({"competition", "image_set"})
_KEY = re.compile(r"[a-z][a-z0-9-]{0,29}")


class UnknownEditionError(LookupError):
    """There is no edition of that name; the message lists those there are."""


@cache
def names() -> tuple[str, ...]:
    """Names of the editions that come with vocboard: those of VOC from the oldest on, then the others."""
    return tuple(edition.name for edition in sorted(_all().values(), key=lambda edition: edition.title))


def load(name: str) -> Edition:
    """Return the edition called `name`, such as `VOC2007`; upper and lower case are the same.

    Raises:
        UnknownEditionError: there is none of that name.
        EditionFileError: its file is malformed.
    """
    edition = _all().get(name.lower())
    if edition is None:
        raise UnknownEditionError(f"There is no edition {name!r}; there are {', '.join(names())}.")
    return edition


@cache
def _all() -> Mapping[str, Edition]:
    return {path.stem: read(path) for path in _DIRECTORY.glob("*.toml")}


def read(path: Path) -> Edition:
    """Return the edition an edition file describes.

    Raises:
        EditionFileError: the file is not TOML, or not an edition.
        OSError: the file cannot be read.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise EditionFileError(f"{path.name}: not a TOML file: {error}") from error
    return _edition(Table(path.name, "", content))


def _edition(table: Table) -> Edition:
    classes, parts, actions = table.texts("classes"), table.texts("parts"), table.texts("actions")
    if not 1 <= len(classes) <= 254:  # 0 is background and 255 void
        raise table.wrong("classes", "a list of 1 to 254 names")
    tasks = table.table("tasks")
    rules = {task: _rules(tasks.table(task), task, classes, parts, actions) for task in Task if tasks.has(task)}
    tasks.finish()
    competitions = [_competition(entry, rules) for entry in table.tables("competitions")]
    by_key = {competition.key: competition for competition in competitions}
    if not competitions or len(by_key) != len(competitions):
        raise table.wrong("competitions", "a list of at least one competition, each with its own number")
    _check_files_differ(competitions, tasks)
    edition = Edition(
        name=table.text("name"),
        title=table.text("title"),
        classes=classes,
        parts=parts,
        actions=actions,
        competitions=by_key,
        overlap=_overlap(table.table("overlap")) if table.has("overlap") else Overlap(),
        limits=_limits(table.table("limits")) if table.has("limits") else Limits(),
        annotations=_annotations(table.table("annotations"), classes) if table.has("annotations") else Annotations(),
        has_set_folders=table.flag("has_set_folders") if table.has("has_set_folders") else True,
    )
    table.finish()
    return edition


def _rules(
    table: Table, task: Task, classes: tuple[str, ...], parts: tuple[str, ...], actions: tuple[str, ...]
) -> TaskRules:
    protocol = table.choice("protocol", LayoutProtocol) if task is Task.LAYOUT else None
    scored = {Task.ACTION: actions, Task.LAYOUT: parts if protocol is LayoutProtocol.PARTS else ("person",)}
    metric, secondary = table.choice("metric", Metric), _metrics(table, "secondary", Metric)
    samples = task is not Task.SEGMENTATION and not {metric, *secondary} <= ROC_METRICS
    rules = TaskRules(
        task=task,
        file=_file_pattern(table, task),
        classes=scored.get(task, classes),
        metric=metric,
        secondary=secondary,
        interpolation=table.choice("interpolation", Interpolation) if samples else Interpolation.AREA,
        layout_protocol=protocol,
        board=_metrics(table, "board", secondary),
        repeats_on_difficult_are_false=task is Task.DETECTION
        and table.has("repeats_on_difficult_are_false")
        and table.flag("repeats_on_difficult_are_false"),
        confidence_range=table.interval("confidence_range") if table.has("confidence_range") else None,
    )
    table.finish()
    return rules


def _metrics(table: Table, key: str, known: Iterable[Metric]) -> tuple[Metric, ...]:
    metrics = table.texts(key) if table.has(key) else ()
    if not set(metrics) <= set(known):
        raise table.wrong(key, "names out of " + (", ".join(known) or "the secondary measures"))
    return tuple(map(Metric, metrics))


def _file_pattern(table: Table, task: Task) -> str:
    pattern = table.text("file")
    needed, possible = _NEEDED_FIELDS[task], _NEEDED_FIELDS[task] | _OPTIONAL_FIELDS
    if task is Task.DETECTION:
        possible |= {"class"}
    try:
        found = {name for _, name, _, _ in Formatter().parse(pattern) if name is not None}
    except ValueError:
        found = {pattern}
    if not needed <= found <= possible:
        listed = ", ".join(f"{{{name}}}" for name in sorted(possible))
        raise table.wrong("file", f"a file name with {'the fields' if needed else 'fields out of'} {listed}")
    return pattern


def _check_files_differ(competitions: Iterable[Competition], tasks: Table) -> None:
    """Refuse file names that do not tell which competition a file is for."""
    owner: dict[str, Competition] = {}
    for competition in competitions:
        rules = competition.rules
        name = rules.file.replace("{competition}", competition.key).replace("{image_set}", competition.image_set)
        other = owner.setdefault(name, competition)
        if other is not competition:
            apart = f"{other.key} from {competition.key}"
            differing = f"a file name that tells {apart}, by {{competition}} or {{image_set}}"
            raise tasks.table(rules.task).wrong("file", differing)


def _competition(table: Table, rules: Mapping[Task, TaskRules]) -> Competition:
    task = table.choice("task", Task)
    if task not in rules:
        raise table.wrong("task", "a task that has its own table, " + ", ".join(f"[tasks.{known}]" for known in rules))
    number = table.integer("number") if table.has("number") or not table.has("key") else None
    key = f"comp{number}" if number is not None else table.text("key")
    if not _KEY.fullmatch(key):
        raise table.wrong("key", "up to 30 lower-case letters, digits and hyphens, a letter first")
    competition = Competition(
        key=key,
        number=number,
        rules=rules[task],
        training=table.choice("training", Training),
        image_set=table.text("image_set"),
        variant=table.text("variant") if table.has("variant") else "",
    )
    table.finish()
    return competition


def _annotations(table: Table, classes: tuple[str, ...]) -> Annotations:
    form = table.choice("format", AnnotationFormat)
    labels: dict[str, str] = {}
    if form is AnnotationFormat.PASCAL_TEXT:
        listed = table.table("labels")
        labels = {beginning: listed.text(beginning) for beginning in listed.names()}
        for beginning, name in labels.items():
            if name not in classes:
                raise listed.wrong(beginning, "one of the classes")
    table.finish()
    return Annotations(form, labels)


def _overlap(table: Table) -> Overlap:
    overlap = Overlap(threshold=table.number("threshold"), strict=table.flag("strict"))
    table.finish()
    return overlap


def _limits(table: Table) -> Limits:
    whole = {field.name for field in fields(Limits) if field.type is int}
    known = [field.name for field in fields(Limits) if table.has(field.name)]
    values: dict[str, Any] = {name: table.integer(name) if name in whole else table.number(name) for name in known}
    table.finish()
    return Limits(**values)
