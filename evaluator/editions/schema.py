"""Converts the tables of an edition file to an `Edition`; docs/editions/own.md describes the format."""

import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeAlias

from vocboard.evaluator import extensions
from vocboard.evaluator.declarations import BUILT_IN, RESERVED_NAMES, Declaration, DeclarationKind
from vocboard.evaluator.editions.checks import check_files_differ, check_names, file_pattern, measures
from vocboard.evaluator.editions.tables import Table
from vocboard.evaluator.extensions import Group
from vocboard.evaluator.names import CurveKind, Metric, Task
from vocboard.evaluator.rules import (
    OPTIONAL_RULES,
    AnnotationFormat,
    Annotations,
    Competition,
    Edition,
    Interpolation,
    LayoutProtocol,
    Limits,
    Overlap,
    RocRule,
    TaskRules,
    Training,
    WithoutPositives,
)
from vocboard.evaluator.tasks.definitions import METRICS, TASKS, name_lists

MAX_CLASSES = 254  # 0 is background and 255 void
MAX_PARTS = 127  # `Layouts.part_type` has 8 bits
MAX_COMPETITIONS = 16
MAX_GROUPS = 254
MAX_NAMED_GROUPS = 20
MAX_GROUP_NAME_LENGTH = 30
MAX_TITLE_LENGTH = 200
MAX_VARIANT_LENGTH = 60
MAX_DECLARATIONS = 20  # that an edition defines
MAX_CHOICES = 20
MAX_HEADING_LENGTH = 60  # of declarations, their units and choices
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,59}")
_KEY = re.compile(r"[a-z][a-z0-9-]{0,29}")
_FIELD = re.compile(r"[a-z][a-z0-9_]{0,39}")
_IMAGE_SET = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,29}")

_OF_ROC = frozenset(metric for metric, known in METRICS.items() if known.curve is CurveKind.ROC)

_Declared: TypeAlias = Mapping[Training, tuple[Declaration, ...]]


def edition_in(table: Table) -> Edition:
    """Return the edition of a file's top-level table; only valid if there are no errors."""
    classes = _class_list(table, "classes")
    if table.is_sound("classes") and not classes:
        table.fail("classes", f"a list of 1 to {MAX_CLASSES} names")
    lists = {key: _class_list(table, key) if table.has(key) else () for key in name_lists()}
    tasks = table.table("tasks")
    for each in extensions.added(Group.TASKS):
        if tasks.has(each.name) and (why := extensions.why_not(Group.TASKS, each.name)) is not None:
            tasks.fail(each.name, "a task that can be used", f" {why}")
    of_task = {task: tasks.table(task) for task in Task if tasks.has(task) and tasks.is_sound(task)}
    definitions = {**BUILT_IN, **_definitions(table.table("declarations") if table.has("declarations") else None)}
    declared = {task: _declarations(below, definitions) for task, below in of_task.items()}
    groups = _groups(table.table("groups"), classes) if table.has("groups") else {}
    named = {task: _rules(below, task, classes, lists, groups) for task, below in of_task.items()}
    for task in named:
        key = TASKS[task].needed_names
        if key is not None and not lists[key]:
            table.fail(key, f"a list of names, for [tasks.{task}]")
    tasks.finish(" A task that is not built in needs an extension (docs/extensions.md): ask the organisers.")
    edition = Edition(
        name=table.matching("name", _NAME, "a letter, then up to 59 letters, digits, dots, hyphens and underscores"),
        title=table.short("title", MAX_TITLE_LENGTH),
        classes=classes,
        competitions=_competitions(table, of_task, named, declared),
        overlap=_overlap(table.table("overlap")) if table.has("overlap") else Overlap(),
        limits=_limits(table.table("limits")) if table.has("limits") else Limits(),
        annotations=_annotations(table.table("annotations"), classes) if table.has("annotations") else Annotations(),
        has_set_folders=table.flag("has_set_folders") if table.has("has_set_folders") else True,
        similar_classes=_similar_classes(table, classes) if table.has("similar") else (),
        **lists,
    )
    table.finish()
    return edition


def _class_list(table: Table, key: str) -> tuple[str, ...]:
    names, most = table.texts(key), MAX_PARTS if key == "parts" else MAX_CLASSES
    if len(names) > most:
        table.fail(key, f"a list of 1 to {most} names")
    check_names(table, key, names)
    return names


def _similar_classes(table: Table, classes: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    groups = table.lists_of_texts("similar")
    if len(groups) > MAX_GROUPS or not all(len(group) > 1 and set(group) <= set(classes) for group in groups):
        table.fail("similar", f"a list of at most {MAX_GROUPS} groups, each of two classes or more")
    return groups


def _groups(table: Table, classes: tuple[str, ...]) -> Mapping[str, tuple[str, ...]]:
    """Return the classes of each group."""
    found = {name: table.texts(name) for name in table.names()}
    for place, (name, group) in enumerate(found.items()):
        if place >= MAX_NAMED_GROUPS:
            table.fail(name, f"left out, because {MAX_NAMED_GROUPS} groups are the most")
        elif not (name.strip() and name.isprintable() and len(name) <= MAX_GROUP_NAME_LENGTH):
            table.fail(name, f"a group with a name of at most {MAX_GROUP_NAME_LENGTH} characters in one line")
        elif not group or not set(group) <= set(classes):
            table.fail(name, "a list of classes")
    table.finish()
    return found


def _rules(
    table: Table,
    task: Task,
    classes: tuple[str, ...],
    lists: Mapping[str, tuple[str, ...]],
    groups: Mapping[str, tuple[str, ...]],
) -> TaskRules:
    protocol = table.choice("protocol", LayoutProtocol) if task is Task.LAYOUT else None
    definition = TASKS[task]
    listed = lists[definition.needed_names] if definition.needed_names else ()
    metric, secondary, board = measures(table, task, protocol)
    used = (metric, *secondary)
    needed = any(METRICS[each].uses_interpolation for each in used)
    # It may be given for other metrics of a precision/recall curve, and is not judged if the metrics are wrong.
    possible = any(METRICS[each].curve is CurveKind.PRECISION_RECALL for each in used) and definition.has_curves
    possible |= not table.is_sound("metric", "secondary")
    takes = needed or (possible and table.has("interpolation"))
    interpolation = table.choice("interpolation", Interpolation) if takes else Interpolation.AREA
    scored = definition.scored_names(classes, listed, protocol)
    rules = TaskRules(
        task=task,
        file=file_pattern(table, task),
        classes=scored,
        metric=metric,
        secondary=secondary,
        interpolation=interpolation,
        roc=_roc(table, metric, secondary),
        without_positives=_without_positives(table, interpolation, metric, secondary),
        layout_protocol=protocol,
        board=board,
        groups=tuple((name, group) for name, group in groups.items() if set(group) <= set(scored) and len(scored) > 1),
        **{
            name: getattr(table, rule.kind)(name)
            for name, rule in OPTIONAL_RULES.items()
            if rule.task in {None, task} and table.has(name)
        },
    )
    table.finish()
    return rules


def _roc(table: Table, metric: Metric, secondary: tuple[Metric, ...]) -> RocRule:
    if not table.has("roc"):
        return RocRule.STRAIGHT_LINES
    rule = table.choice("roc", RocRule)
    if table.is_sound("metric", "secondary") and not {metric, *secondary} & _OF_ROC:
        table.fail("roc", "left out, unless a measure is " + " or ".join(sorted(_OF_ROC)))
    return rule


def _without_positives(
    table: Table, interpolation: Interpolation, metric: Metric, secondary: tuple[Metric, ...]
) -> WithoutPositives:
    if not table.has("without_positives"):
        return WithoutPositives.UNDEFINED
    rule = table.choice("without_positives", WithoutPositives)
    can_be_zero = interpolation is Interpolation.ELEVEN_POINT or Metric.PIXEL_ACCURACY in {metric, *secondary}
    if rule is WithoutPositives.ZERO and not can_be_zero and table.is_sound("metric", "secondary", "interpolation"):
        table.fail("without_positives", '"undefined", unless interpolation is "11-point" or a measure pixel_accuracy')
    return rule


def _competitions(
    table: Table, tasks: Mapping[Task, Table], rules: Mapping[Task, TaskRules], declared: Mapping[Task, _Declared]
) -> Mapping[str, Competition]:
    entries = table.tables("competitions")
    if table.is_sound("competitions") and not 1 <= len(entries) <= MAX_COMPETITIONS:
        table.fail("competitions", f"a list of 1 to {MAX_COMPETITIONS} competitions")
    found: dict[str, Competition] = {}
    for entry in entries:
        competition = _competition(entry, rules, declared)
        if competition is None:
            continue
        if competition.key in found:
            entry.fail("number" if competition.number else "key", "the competition's own, no other one's")
        found.setdefault(competition.key, competition)
    check_files_differ(found.values(), tasks)
    return found


def _competition(
    table: Table, rules: Mapping[Task, TaskRules], declared: Mapping[Task, _Declared]
) -> Competition | None:
    """Return one competition; None if it has too many errors."""
    task = table.choice("task", Task)
    if table.is_sound("task") and task not in rules:
        known = ", ".join(f"[tasks.{known}]" for known in rules) or "but there is none"
        table.fail("task", f"a task that has its own table, {known}")
    number = table.integer("number") if table.has("number") or not table.has("key") else None
    key = table.matching("key", _KEY, _KEY_IN_WORDS) if table.has("key") else ""
    if number is not None:
        if key:
            table.fail("key", "left out, because the competition has a number")
        key = f"comp{number}"
    if not _KEY.fullmatch(key):
        table.fail("number", "a whole number of at most 26 digits")
    training = table.choice("training", Training)
    image_set = table.matching("image_set", _IMAGE_SET, "up to 30 letters, digits, hyphens and underscores")
    variant = table.short("variant", MAX_VARIANT_LENGTH) if table.has("variant") else ""
    table.finish()
    if not table.is_sound("task", "number", "key"):
        return None
    return Competition(key, number, rules[task], training, image_set, variant, declared[task].get(training, ()))


def _definitions(table: Table | None) -> dict[str, Declaration]:
    """Return the declarations that the edition defines, by name."""
    if table is None:
        return {}
    names = table.names()
    found = {name: _definition(table, name) for name in names}
    for name in names[MAX_DECLARATIONS:]:
        table.fail(name, f"left out, because {MAX_DECLARATIONS} declarations are the most")
    return found


def _definition(declarations: Table, name: str) -> Declaration:
    if not _FIELD.fullmatch(name):
        declarations.fail(name, "a table whose name has up to 40 lower-case letters, digits and _, a letter first")
    elif name in BUILT_IN or name in RESERVED_NAMES:
        declarations.fail(name, "a table with another name, because a submission has another field of this name")
    table = declarations.table(name)
    kind = table.choice("kind", DeclarationKind)
    for key, needed in (("unit", DeclarationKind.NUMBER), ("choices", DeclarationKind.CHOICE)):
        if table.has(key) and table.is_sound("kind") and kind is not needed:
            table.fail(key, f'left out, unless kind is "{needed}"')
    declaration = Declaration(
        name,
        table.short("title", MAX_HEADING_LENGTH),
        kind,
        _choices(table) if kind is DeclarationKind.CHOICE or table.has("choices") else {},
        table.short("unit", MAX_HEADING_LENGTH) if table.has("unit") else "",
        table.flag("required") if table.has("required") else True,
    )
    table.finish()
    return declaration


def _choices(table: Table) -> dict[str, str]:
    listed = table.table("choices")
    if table.is_sound("choices") and not 2 <= len(listed.names()) <= MAX_CHOICES:
        table.fail("choices", f"a table of 2 to {MAX_CHOICES} values, each with its meaning in words")
    for value in listed.names():
        if not _FIELD.fullmatch(value):
            listed.fail(value, "a value of up to 40 lower-case letters, digits and _, a letter first")
    return {value: listed.short(value, MAX_HEADING_LENGTH) for value in listed.names()}


def _declarations(table: Table, definitions: Mapping[str, Declaration]) -> _Declared:
    """Return the declarations by kind of training data."""
    if not table.has("declarations"):
        return {}
    stated = table.table("declarations")
    found: dict[Training, tuple[Declaration, ...]] = {}
    for training in Training:
        if stated.has(training):
            names = stated.texts(training)
            if not set(names) <= set(definitions):
                stated.fail(training, "names out of " + ", ".join(definitions))
            found[training] = tuple(definitions[name] for name in names if name in definitions)
    stated.finish()
    return found


_KEY_IN_WORDS = "up to 30 lower-case letters, digits and hyphens, a letter first"


def _annotations(table: Table, classes: tuple[str, ...]) -> Annotations:
    form = table.choice("format", AnnotationFormat)
    labels: dict[str, str] = {}
    if form is AnnotationFormat.PASCAL_TEXT:
        listed = table.table("labels")
        labels = {beginning: listed.text(beginning) for beginning in listed.names()}
        for beginning, name in labels.items():
            if name not in classes:
                listed.fail(beginning, "one of the classes")
    table.finish()
    return Annotations(form, labels)


def _overlap(table: Table) -> Overlap:
    default = Overlap()
    overlap = Overlap(
        threshold=table.number("threshold") if table.has("threshold") else default.threshold,
        strict=table.flag("strict") if table.has("strict") else default.strict,
    )
    if overlap.threshold > 1:
        table.fail("threshold", "a fraction, from 0 to 1")
    table.finish()
    return overlap


def _limits(table: Table) -> Limits:
    whole = {field.name for field in fields(Limits) if field.type is int}
    known = [field.name for field in fields(Limits) if table.has(field.name)]
    values: dict[str, Any] = {name: table.integer(name) if name in whole else table.number(name) for name in known}
    table.finish()
    return Limits(**values)
