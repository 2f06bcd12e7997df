"""What the documentation shows of Python runs, on a development kit tree."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.python_examples import (
    NOTEBOOKS,
    PYTHON_PAGE,
    README,
    STATISTICS_PAGE,
    blocks,
    cells,
    needs_server,
    run,
    write_files,
)
from vocboard.evaluator.editions import Task
from vocboard.evaluator.tasks.definitions import TASKS

MAX_LINES = 20  # of code in a notebook


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("examples")
    write_files(directory)
    return directory


@pytest.fixture
def in_files(files: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(files)
    return files


def test_the_examples_of_the_page_run(in_files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    offline = [block for block in blocks(PYTHON_PAGE) if not needs_server(block)]
    assert len(offline) > 5
    run(offline, PYTHON_PAGE.name)
    assert "comp3['car'] boxes has the shape (2, 3); expected (2, 4)." in capsys.readouterr().out
    assert (in_files / "page" / "index.html").exists()


def test_the_examples_of_the_page_of_statistics_run(in_files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copy("results.tar.gz", "other.tar.gz")
    found = run(blocks(STATISTICS_PAGE), STATISTICS_PAGE.name)
    assert found["comparison"].first_group == ("ours", "theirs")
    assert found["result"]["comp3"].diagnose()["errors"]["score"] == found["result"]["comp3"].mean
    assert "ours theirs 0.0 0.0 False" in capsys.readouterr().out


def test_the_example_of_the_readme_runs(in_files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    examples = blocks(README)
    assert examples
    run(examples, README.name)
    assert capsys.readouterr().out


def name_of(task: Task) -> str:
    return task.value.replace("_", "-")


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.name)
def test_notebooks_run_from_arrays_to_a_table_and_curves_or_a_confusion_matrix(notebook: Path, in_files: Path) -> None:
    found = run(cells(notebook), notebook.name)
    assert "<table>" in found["result"]._repr_html_()
    if notebook.stem == "segmentation":
        assert found["confusion"].shape == (21, 21)
    if notebook.stem in {name_of(task) for task, definition in TASKS.items() if not definition.has_curves}:
        return
    assert found["curves"]
    assert all(len(curve.recall) == len(curve.precision) > 0 for curve in found["curves"].values())


def test_there_is_a_notebook_for_each_task() -> None:
    tasks = {name_of(task) for task in Task} - {"detection"} | {"arrays-to-curves"}
    assert {notebook.stem for notebook in NOTEBOOKS} == tasks


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.name)
def test_notebooks_are_short_and_hold_no_output(notebook: Path) -> None:
    lines = [line for cell in cells(notebook) for line in cell.splitlines() if line.strip()]
    assert len(lines) <= MAX_LINES
    content = json.loads(notebook.read_text(encoding="utf-8"))
    assert not any(cell.get("outputs") for cell in content["cells"])
