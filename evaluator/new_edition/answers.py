"""The questions about a new edition, and the edition file of the answers."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from vocboard.evaluator.names import Task
from vocboard.evaluator.tasks.definitions import TASKS as DEFINITIONS
from vocboard.evaluator.tasks.definitions import name_lists
from vocboard.evaluator.tasks.detection.subsets import SUBSETS, Characteristic

_RULES = {task.value: each.new_edition_rules for task, each in DEFINITIONS.items()}
TASKS = tuple(_RULES)
_SECONDARY = 'secondary = ["average_precision_with_difficult"]'  # of detections
_BY = {
    "area": Characteristic.AREA,
    "size": Characteristic.SIZE,
    "shape": Characteristic.ASPECT,
    "truncation": Characteristic.TRUNCATION,
    "occlusion": Characteristic.OCCLUSION,
    "view": Characteristic.VIEW,
    "none": None,
}


@dataclass(frozen=True, slots=True)
class Question:
    """One question, with the field of `Answers` that it fills and its default."""

    field: str
    text: str
    default: str
    needs_task: str | None = None  # asked only if the edition has that task
    choices: tuple[str, ...] = ()  # of each item of the answer; empty if the edition file says what it may be


QUESTIONS = (
    Question("name", "Short name, also the name of its folder", "ROADS2026"),
    Question("title", "Title", "Road Users 2026"),
    Question("tasks", f"Tasks, of {', '.join(TASKS)}", "detection", choices=TASKS),
    Question("classes", "Classes, in the order of the segmentation labels", "car, bicycle, person"),
    *(
        Question(each.needed_names, *each.names_question, each.task)
        for each in DEFINITIONS.values()
        if each.needed_names
    ),
    Question("overlap", "Least overlap (intersection over union) of a right box", "0.5"),
    Question("by", f"Also score some objects apart, by {', '.join(_BY)}", "none", "detection", tuple(_BY)),
    Question("image_set", "Name of the test set", "test"),
)


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers as text; lists are separated by commas.

    Attributes:
        lists: the lists of names that some tasks need, by their key in edition files.
    """

    name: str
    title: str
    tasks: str
    classes: str
    overlap: str
    image_set: str
    by: str = "none"
    lists: Mapping[str, str] = field(default_factory=dict)


def listed(text: str) -> list[str]:
    """Return the items of a list separated by commas.

    >>> listed("car, bus,")
    ['car', 'bus']
    """
    return [item.strip() for item in text.split(",") if item.strip()]


def edition_text(answers: Answers) -> str:
    """Return the edition file, which `editions.read_text` can check.

    Each task has one competition, with any training data.
    """
    tasks = [task for task in TASKS if task in listed(answers.tasks)]
    parts = [
        f"name = {_toml(answers.name)}",
        f"title = {_toml(answers.title)}",
        "",
        "# In the order of the segmentation indices, from 1 on.",
        f"classes = {_toml(listed(answers.classes))}",
        *(f"{key} = {_toml(listed(answers.lists.get(key, '')))}" for key in name_lists()),
        "",
        "[overlap]",
        f"threshold = {float(answers.overlap)!r}",
        "strict = false",
    ]
    for task in tasks:
        rules = _RULES[task]
        if task == Task.DETECTION:
            rules = rules.replace(_SECONDARY, _secondary(listed(answers.by)))
        parts += ["", f"[tasks.{task}]", rules]
    for number, task in enumerate(tasks, start=1):
        parts += ["", "[[competitions]]", f"number = {number}", f"task = {json.dumps(task)}", 'training = "any"']
        parts.append(f"image_set = {_toml(answers.image_set)}")
    return "\n".join([*parts, ""])


def _secondary(by: Sequence[str]) -> str:
    """Return the line of secondary metrics of detections."""
    chosen = {_BY[name] for name in by}
    wanted = [metric.value for metric, subset in SUBSETS.items() if subset.characteristic in chosen]
    return f"secondary = {_toml(['average_precision_with_difficult', *wanted])}"


def _toml(value: str | list[str]) -> str:
    return json.dumps(value, ensure_ascii=False)  # escapes of surrogates are none of TOML's
