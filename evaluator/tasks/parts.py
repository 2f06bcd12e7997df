"""Finds the parts of tasks: modules of fixed names in the folder of each task.

`tests/test_architecture.py` counts a call as an import of these modules, so the names have to be written out.
"""

from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from vocboard.evaluator.names import Task


def task_modules(name: str) -> dict[Task, ModuleType]:
    """Return the module of this name of each task that has one, in the order of `Task`."""
    paths = {task: f"{__package__}.{task}.{name}" for task in Task}
    return {task: import_module(path) for task, path in paths.items() if find_spec(path) is not None}


def task_classes(name: str, base: type, tasks: Iterable[Task] = Task) -> dict[Task, Any]:
    """Return the class that each task has in its module of this name.

    Args:
        name: of the module, for example `scoring`.
        base: the base class of this part. Of the classes in the module that derive from it, imported ones too, the
            result is the one from which no other derives.
        tasks: those that have this part.

    Raises:
        TypeError: a task has no such module, or not exactly one such class in it.
    """
    modules = task_modules(name)
    found = {task: _most_derived(modules[task], base) if task in modules else [] for task in tasks}
    for task, classes in found.items():
        if len(classes) != 1:
            raise TypeError(f"evaluator/tasks/{task}/{name}.py needs one class that derives from {base.__name__}")
    return {task: classes[0] for task, classes in found.items()}


def task_parts(name: str, base: type, tasks: Iterable[Task] = Task) -> dict[Task, Any]:
    """Return an instance of each class that `task_classes` returns."""
    return {task: of() for task, of in task_classes(name, base, tasks).items()}


def _most_derived(module: ModuleType, base: type) -> list[type]:
    known = {each for each in vars(module).values() if isinstance(each, type) and issubclass(each, base)} - {base}
    return [each for each in known if not any(issubclass(other, each) for other in known - {each})]
