"""Finds the parts of tasks: modules of fixed names in the folder of each task, or in the package of an extension.

An extension whose module cannot be imported, or lacks what it needs, is left out, and `extensions` says why.

`tests/test_architecture.py` counts a call as an import of these modules, so the names have to be written out.
"""

from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from vocboard.evaluator import extensions
from vocboard.evaluator.extensions import Addition, Group
from vocboard.evaluator.names import Task

_ADDED = {Task(each.name): each for each in extensions.added(Group.TASKS) if each.name in set(Task)}
_OPTIONAL = frozenset({"arrays", "rows", "view"})  # of the tasks of extensions


def task_modules(name: str) -> dict[Task, ModuleType]:
    """Return the module of this name of each task that has one, in the order of `Task`."""
    found = {}
    for task in Task:
        added = _ADDED.get(task)
        path = f"{__package__}.{task}.{name}" if added is None else f"{added.package}.{name}"
        with extensions.reporting(added):
            if find_spec(path) is not None:
                found[task] = import_module(path)
    return found


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
    found: dict[Task, type] = {}
    for task in tasks:
        added = _ADDED.get(task)
        if added is not None and name in _OPTIONAL and task not in modules:
            continue
        with extensions.reporting(added):
            classes = _most_derived(modules[task], base) if task in modules else []
            if len(classes) != 1:
                folder = f"evaluator/tasks/{task}" if added is None else added.package.replace(".", "/")
                raise TypeError(f"{folder}/{name}.py needs one class that derives from {base.__name__}")
            found[task] = classes[0]
    return found


def added_classes(name: str, base: type) -> dict[Task, Any]:
    """Return the class of each task of an extension that has a module of this name, which is optional."""
    return task_classes(name, base, [task for task in task_modules(name) if task in _ADDED])


def task_parts(name: str, base: type, tasks: Iterable[Task] = Task) -> dict[Task, Any]:
    """Return an instance of each class that `task_classes` returns."""
    found = {}
    for task, of in task_classes(name, base, tasks).items():
        with extensions.reporting(_ADDED.get(task)):
            found[task] = of()
    return found


def modules_of_metrics(name: str) -> list[tuple[Addition, ModuleType]]:
    """Return the module of this name of each package that only adds metrics to built-in tasks."""
    of_tasks = {each.package for each in _ADDED.values()}  # they define their own metrics
    packages = {each.package: each for each in extensions.added(Group.METRICS) if each.package not in of_tasks}
    found = []
    for package, addition in packages.items():
        with extensions.reporting(addition):
            found.append((addition, import_module(f"{package}.{name}")))
    return found


def _most_derived(module: ModuleType, base: type) -> list[type]:
    known = {each for each in vars(module).values() if isinstance(each, type) and issubclass(each, base)} - {base}
    return [each for each in known if not any(issubclass(other, each) for other in known - {each})]
