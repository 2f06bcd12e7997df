"""Run the example of a task on a tree, and write its results."""

from collections.abc import Callable, Mapping
from pathlib import Path

from vocboard.evaluator.conversion.result_archive import Files, write_results
from vocboard.evaluator.editions import Competition, Edition, Task
from vocboard.evaluator.examples.material import ExampleError, Material, read_material
from vocboard.evaluator.problems import Problem
from vocboard.evaluator.tasks.parts import task_modules

METHODS: Mapping[Task, Callable[[Material, Competition], Files]] = {
    task: module.example_results for task, module in task_modules("example").items()
}


def example(
    task: Task,
    tree: Path,
    output: Path,
    edition: Edition,
    *,
    train: str = "train",
    test: str = "val",
    competition: str | None = None,
    progress: Callable[[int], None] | None = None,
) -> tuple[Problem, ...]:
    """Train a task's example on one image set of a tree, run it on another, and write the results.

    Args:
        task: which example.
        tree: development kit tree with images, directory or archive.
        output: archive to write; not written if there is an error.
        edition: of the tree.
        train: image set to train on.
        test: image set to run on.
        competition: competition to write files for. Default: the first of the task.
        progress: called with the number of images read.

    Returns:
        Warnings about the results.

    Raises:
        ExampleError: the tree lacks required data.
        GroundTruthError: the tree is invalid.
        ConversionError: the results are not valid.
        OSError: a file cannot be read or written.
    """
    material = read_material(tree, edition, task, train=train, test=test, progress=progress)
    key, files = example_files(material, competition)
    return write_results(output, material.edition, files, material.test, [key])


def example_files(material: Material, competition: str | None = None) -> tuple[str, Files]:
    """Train and run the example of a task; return the competition's key and its result files.

    Raises:
        ExampleError: the tree lacks required data, the competition is of another task, or the task has no example.
    """
    if material.task not in METHODS:
        raise ExampleError(f"{material.task.value} has no example method")
    of_task = {key: each for key, each in material.edition.competitions.items() if each.task is material.task}
    key = next(iter(of_task)) if competition is None else competition
    if key not in of_task:
        raise ExampleError(f"{key} is not a {material.task.value} competition; these are: {', '.join(of_task)}")
    return key, METHODS[material.task](material, of_task[key])
