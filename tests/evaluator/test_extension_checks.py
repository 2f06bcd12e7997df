"""What extensions are checked by: built-in tasks pass, and each thing that is wrong gets its sentence."""

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.support import small_world
from vocboard.evaluator import extensions
from vocboard.evaluator.editions import EditionFileError, Metric, Task, load, read_text, source
from vocboard.evaluator.evidence.image_shares import ImageShares
from vocboard.evaluator.evidence.ranked_evidence import MatchedResults
from vocboard.evaluator.extensions import Addition, Group
from vocboard.evaluator.ground_truth import DetectionTruth
from vocboard.evaluator.tasks import parts
from vocboard.evaluator.tasks.definition import TaskDefinition
from vocboard.evaluator.tasks.ranked_classes import RankedClass
from vocboard.evaluator.tasks.scorers import SCORERS
from vocboard.evaluator.tasks.truth import ClassCount
from vocboard.testing import check_metric, check_task

AP = Metric.AVERAGE_PRECISION


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return a tree, and results for it."""
    directory = tmp_path_factory.mktemp("world")
    (directory / "tree.tar").write_bytes(small_world.ground_truth_archive())
    (directory / "results.tar").write_bytes(small_world.results_archive())
    return directory / "tree.tar", directory / "results.tar"


@pytest.mark.parametrize("task", ["classification", "detection"])
def test_built_in_tasks_pass(task: str, world: tuple[Path, Path]) -> None:
    check_task(task, load("VOC2007"), *world)


def shares(ranked: RankedClass[Any], score: float) -> ImageShares:
    every = np.ones(ranked.images)
    return ImageShares(every * score, every)


class Another(ImageShares):
    def replicates(self, weights: Any) -> Any:
        return super().replicates(weights) * 0.5


NUMBERS = iter(range(1000))
WRONG: Mapping[str, Any] = {
    "is 2.0, not from 0 to 1": lambda ranked: shares(ranked, 2),
    "is undefined for every class": lambda ranked: shares(ranked, np.nan),
    "is another number when the same": lambda ranked: shares(ranked, next(NUMBERS) / 1000),
    "needs has_intervals=False": lambda ranked: 0.5,
    "differs in its evidence|is another number": lambda ranked: shares(ranked, next(NUMBERS) % 7 / 7),
    "is another number with each image once": lambda ranked: Another(np.ones(ranked.images), np.ones(ranked.images)),
    "depends on the order of lines": lambda ranked: shares(ranked, float(ranked.results.image[0] == 0) / 2),
}


@pytest.mark.parametrize("sentence", WRONG)
def test_what_is_wrong_with_a_metric_is_said(
    sentence: str, world: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    tree, results = world[0], world[1].with_name("detections.tar")
    tied = {"comp3_det_test_car": ["000001 0.9 10 10 50 50", "000002 0.9 20 20 60 60"]} if "lines" in sentence else {}
    results.write_bytes(small_world.results_archive(comp1_cls_test_car=None, **tied))
    scorer: Any = SCORERS[Task.DETECTION]
    monkeypatch.setattr(type(scorer), "by_class", {**scorer.by_class, AP: WRONG[sentence]})
    with pytest.raises(AssertionError, match=sentence):
        check_metric(AP, load("VOC2007"), tree, results)


def test_what_is_wrong_with_a_task_is_said(
    world: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def check(sentence: str) -> None:
        with pytest.raises(AssertionError, match=sentence):
            check_task("detection", load("VOC2007"), *world)
        monkeypatch.undo()

    for annotation in (np.ndarray, "NDArray[np.int32]", NDArray[np.int16]):
        monkeypatch.setattr(fields(MatchedResults)[0], "type", annotation)
        check(r"^Evidence, of one-dimensional arrays annotated NDArray\[np.bool_\], .* cannot be stored and loaded: ")
    none = ClassCount(np.int64(1))  # type: ignore[arg-type]  # the mistake
    monkeypatch.setattr(DetectionTruth, "class_counts", lambda self, edition: {"car": none})
    check("^truth.py cannot count the ground truth, in int: TypeError")
    (tmp_path / "poses").mkdir()
    for name, content in {"format": "import poses.helpers", "helpers": "import poses.truth", "truth": ""}.items():
        (tmp_path / "poses" / f"{name}.py").write_text(content)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(extensions, "added", lambda group: (Addition(group, "detection", "poses", "poses 1"),))
    check("^truth.py is imported by one of definition, format, ")
    with pytest.raises(TypeError, match=r"^Poses lacks task, short_title, metrics, statistics, new_edition_rules$"):
        type("Poses", (TaskDefinition,), {"title": "Poses", "content": lambda self, rules: ""})()


def test_what_is_not_there_is_said(world: tuple[Path, Path]) -> None:
    with pytest.raises(AssertionError, match="There is no task keypoints: VOCBOARD_EXTENSIONS has to name"):
        check_task("keypoints", load("VOC2007"), *world)
    with pytest.raises(AssertionError, match=r"There is no metric speed\. VOCBOARD_EXTENSIONS has to name its"):
        check_metric("speed", load("VOC2007"), *world)


def test_an_extension_that_fails_is_left_out_with_one_sentence(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(extensions, "_failures", {})
    added = Addition(Group.TASKS, "action", "no_such_package", "others 1.0")
    monkeypatch.setattr(parts, "_ADDED", {Task.ACTION: added})
    assert Task.ACTION not in parts.task_modules("format")
    assert Task.DETECTION in parts.task_modules("definition")
    reason = "Extension others 1.0 cannot be used: action: ModuleNotFoundError: No module named 'no_such_package'."
    assert extensions.failures() == {"others 1.0": reason}
    assert caplog.messages == [reason]


def test_an_edition_says_why_a_metric_cannot_be_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    metric = Addition(Group.METRICS, Metric.AVERAGE_PRECISION, "p", "p 1")
    added = dict.fromkeys(Group, ()) | {Group.METRICS: (metric,)}
    monkeypatch.setattr(extensions, "_chosen", lambda: added)
    monkeypatch.setattr(extensions, "_failures", {"p 1": "Extension p 1 cannot be used."})
    text = source("VOC2007").replace('"VOC2007"', '"Own"', 1)
    with pytest.raises(EditionFileError, match=r"metric must be what can be computed.* Extension p 1 cannot be used"):
        read_text(text, "own.toml")


def test_only_chosen_ones_are_loaded_and_cannot_replace_what_is_built_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extensions, "_failures", {})
    try:
        monkeypatch.setenv(extensions.VARIABLE, "No_Such.Package")
        extensions._chosen.cache_clear()
        [sentence] = extensions.failures().values()
        assert sentence == "Extension no-such-package cannot be used: it is not installed, or adds nothing to vocboard."
        added = dict.fromkeys(Group, ()) | {
            Group.TASKS: (Addition(Group.TASKS, "detection", "p", "p 1"), Addition(Group.TASKS, "poses", "p", "p 1"))
        }
        monkeypatch.setattr(extensions, "_chosen", lambda: added)
        assert extensions.members(Group.TASKS, dict(Task.__members__)) == {"POSES": "poses"}
        assert extensions.failures()["p 1"] == "Extension p 1 cannot be used: detection: detection is built in."
        assert extensions.used_by({"poses"}) == ("p 1",)
    finally:
        monkeypatch.undo()
        extensions._chosen.cache_clear()
