"""Every task has every part, and each of its metrics has a definition and is computed."""

import inspect
import re
from enum import Enum
from pathlib import Path

import pytest

import vocboard
from vocboard.evaluator.arrays.content import ArrayReader
from vocboard.evaluator.editions import Task
from vocboard.evaluator.examples.run import METHODS
from vocboard.evaluator.ground_truth import LabelTruth
from vocboard.evaluator.ground_truth.reader import TRUTH_READERS
from vocboard.evaluator.new_edition.answers import TASKS as NEW_EDITION
from vocboard.evaluator.tasks.content_columns import ContentColumns
from vocboard.evaluator.tasks.definition import TaskDefinition
from vocboard.evaluator.tasks.definitions import TASKS
from vocboard.evaluator.tasks.format import ResultFiles
from vocboard.evaluator.tasks.parts import task_classes, task_modules
from vocboard.evaluator.tasks.rows import ROWS
from vocboard.evaluator.tasks.scorer import Scorer
from vocboard.evaluator.tasks.scorers import SCORERS
from vocboard.evaluator.tasks.truth import Truth
from vocboard.evaluator.tasks.truth_reader import TruthReader
from vocboard.evaluator.viewing.page import ASSETS, VIEWS

SAMPLES = task_modules("sample")
BASES: dict[str, type] = {
    "definition": TaskDefinition,
    "format": ResultFiles,
    "columns": ContentColumns,
    "arrays": ArrayReader,
    "truth": Truth,
    "ground_truth": TruthReader,
    "scoring": Scorer,
}


@pytest.mark.parametrize("part", BASES)
def test_every_task_has_every_part(part: str) -> None:
    classes = task_classes(part, BASES[part])
    assert list(classes) == list(Task)
    assert not [task for task, found in classes.items() if inspect.isabstract(found)]


def test_a_task_without_a_part_is_told_which_module_to_write() -> None:
    with pytest.raises(TypeError, match=r"evaluator/tasks/classification/part\.py needs one class that derives"):
        task_classes("part", Truth)


def test_a_part_is_the_class_from_which_no_other_of_the_module_derives() -> None:
    assert task_classes("columns", ContentColumns)[Task.ACTION].__name__ == "ActionColumns"  # beside its base class
    assert task_classes("truth", Truth)[Task.ACTION] is LabelTruth  # of classification
    with pytest.raises(TypeError, match=r"classification/definition\.py needs one class that derives from Enum"):
        task_classes("definition", Enum)


@pytest.mark.parametrize("task", Task)
def test_a_definition_names_its_folder(task: Task) -> None:
    assert TASKS[task].task is task


def test_every_task_has_an_example() -> None:
    assert set(METHODS) == set(Task)


def metrics_module(task: Task) -> str:
    """Return the file that computes the task's metrics: beside its scorer, or beside the one that this extends."""
    root = Path(vocboard.__file__).parent
    modules = (one.__module__.removeprefix("vocboard.").split(".") for one in type(SCORERS[task]).__mro__)
    beside = ("/".join((*module[:-1], "metrics.py")) for module in modules)
    return next(path for path in beside if (root / path).is_file())


@pytest.mark.parametrize("task", Task)
def test_a_tasks_metrics_are_those_that_its_scorer_computes(task: Task) -> None:
    defined, computed = {*TASKS[task].metrics, *TASKS[task].only_secondary}, SCORERS[task].metrics
    definition, computing = f"evaluator/tasks/{task}/definition.py", metrics_module(task)
    assert not defined - computed, f"{sorted(defined - computed)} of {definition} not in {computing}"
    assert not computed - defined, f"{sorted(computed - defined)} of {computing} not in {definition}"


def test_action_has_the_metrics_module_of_classification() -> None:
    assert metrics_module(Task.ACTION) == "evaluator/tasks/classification/metrics.py"
    assert metrics_module(Task.LAYOUT) == "evaluator/tasks/layout/metrics.py"


def test_a_new_edition_can_have_every_task() -> None:
    assert set(NEW_EDITION) == set(Task)


@pytest.mark.parametrize("task", Task)
def test_organisers_are_told_to_upload_what_the_ground_truth_is_read_from(task: Task) -> None:
    reader = TRUTH_READERS[task]
    folders = {file.partition("/")[0] for file in reader.image_files}
    assert set(TASKS[task].tree_folders) == folders | ({"Annotations"} if reader.needs_annotations else set())


@pytest.mark.parametrize("task", Task)
def test_a_sample_tree_has_what_the_ground_truth_is_read_from(task: Task) -> None:
    others = set(TASKS[task].tree_folders) - {"Annotations", "SegmentationClass", "SegmentationObject"}
    assert not others or task in SAMPLES, f"evaluator/tasks/{task}/sample.py has to write {', '.join(others)}"


def test_pages_show_results_of_every_task() -> None:
    assert {*VIEWS} == {*ROWS} == {task for task in Task if not TASKS[task].has_file_per_image}


@pytest.mark.parametrize("task", VIEWS)
def test_pages_describe_the_marks_of_every_task(task: Task) -> None:
    described = re.search(r"const DESCRIPTIONS = \{(.*?)\};", (ASSETS / "results.js").read_text(), re.S)
    assert described
    assert set(VIEWS[task].kinds) <= set(re.findall(r"(\w+): ", described[1]))
