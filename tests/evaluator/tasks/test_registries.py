"""Every task is in every registry, and each of its metrics has a definition and is computed."""

import re
from collections.abc import Collection
from pathlib import Path

import pytest

import vocboard
from vocboard.evaluator.editions import Task
from vocboard.evaluator.examples.run import METHODS
from vocboard.evaluator.new_edition.answers import TASKS as NEW_EDITION
from vocboard.evaluator.tasks.registries.arrays import ARRAY_READERS
from vocboard.evaluator.tasks.registries.columns import COLUMNS
from vocboard.evaluator.tasks.registries.definitions import TASKS
from vocboard.evaluator.tasks.registries.formats import FORMATS
from vocboard.evaluator.tasks.registries.scorers import SCORERS
from vocboard.evaluator.tasks.registries.truth_readers import TRUTH_READERS
from vocboard.evaluator.tasks.registries.truths import TRUTHS
from vocboard.evaluator.viewing import entries
from vocboard.evaluator.viewing.page import ASSETS

REGISTRIES: dict[str, Collection[Task]] = {
    "evaluator/tasks/registries/definitions.py": TASKS,
    "evaluator/tasks/registries/formats.py": FORMATS,
    "evaluator/tasks/registries/columns.py": COLUMNS,
    "evaluator/tasks/registries/arrays.py": ARRAY_READERS,
    "evaluator/tasks/registries/truths.py": TRUTHS,
    "evaluator/tasks/registries/truth_readers.py": TRUTH_READERS,
    "evaluator/tasks/registries/scorers.py": SCORERS,
    "evaluator/examples/run.py": METHODS,
}


@pytest.mark.parametrize("file", REGISTRIES)
def test_has_every_task(file: str) -> None:
    missing = sorted(set(Task) - set(REGISTRIES[file]))
    assert not missing, f"register {', '.join(missing)} in {file}"


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


def test_pages_show_results_of_every_task() -> None:
    missing = sorted(set(Task) - set(entries.RESULT_ROWS) - entries.WITH_LABEL_MAPS)
    assert not missing, (
        f"register {', '.join(missing)} in RESULT_ROWS or WITH_LABEL_MAPS of evaluator/viewing/entries.py"
    )
    assert not set(entries.RESULT_ROWS) & entries.WITH_LABEL_MAPS


def test_pages_know_the_marks_of_every_task_with_claims() -> None:
    kinds = re.search(r"const KINDS = \{(.*?)\};", (ASSETS / "results.js").read_text(), re.S)
    assert kinds
    assert set(re.findall(r"^ +(\w+): \[", kinds[1], re.M)) == {task.value for task in entries.RESULT_ROWS}


def test_an_unregistered_task_is_an_error_not_a_label_map(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entries, "RESULT_ROWS", {})
    assert not entries.has_result_rows(Task.SEGMENTATION)
    with pytest.raises(ValueError, match="register it in"):
        entries.has_result_rows(Task.DETECTION)
