"""From result files and a tree to scores and their JSON."""

import json
from pathlib import Path

import pytest

from tests.evaluator import trees
from vocboard.evaluator.editions import load
from vocboard.evaluator.evaluation import Evaluation, evaluate
from vocboard.evaluator.ground_truth.reader import read_ground_truth
from vocboard.evaluator.problems import Severity

VOC2012 = load("VOC2012")

RESULTS: dict[str, str | bytes] = {
    "results/VOC2012/Main/comp1_cls_test_car.txt": "m1 0.5\nm2 0.25\n",
    "results/VOC2012/Main/comp1_cls_test_dog.txt": "m1 0.5\nm2 0.25\n",
    "results/VOC2012/Main/comp3_det_test_car.txt": "m1 0.9 1 1 10 10\nm2 0.8 1 1 10 10\nm1 0.7 1 1 10 10\n",
    "results/VOC2012/Segmentation/comp5_test_cls/m2.png": trees.label_map([[0, 7, 7], [0, 0, 0]]),
    "results/VOC2012/Action/comp9_action_test_walking.txt": "a1 2 0.5\na2 1 0.75\n",
}


def run(
    directory: Path,
    results: dict[str, str | bytes] = RESULTS,
    without: str = "nothing",
    segmentation_classes: tuple[str, ...] | None = None,
) -> Evaluation:
    files = {name: content for name, content in trees.files_of_2012().items() if without not in name}
    truth = read_ground_truth(trees.write(directory / "tree", files), VOC2012)
    upload = trees.tar(directory / "results.tar.gz", results, "")
    return evaluate(upload, VOC2012, truth, segmentation_classes=segmentation_classes)


def test_json_has_the_shape_that_others_rely_on(tmp_path: Path) -> None:
    evaluation = json.loads(json.dumps(run(tmp_path).as_json(), allow_nan=False))
    assert evaluation["edition"] == "VOC2012"
    assert list(evaluation["competitions"]) == ["comp1", "comp3", "comp5", "comp9"]
    classification = evaluation["competitions"]["comp1"]
    assert classification["task"] == "classification"
    assert classification["metric"] == "average_precision"
    assert classification["per_class"] == {"car": 1.0, "dog": None}  # the only dog is difficult
    assert (classification["mean"], classification["mean_over"]) == (1.0, 1)
    assert len(classification["not_entered"]) == 18
    detection = evaluation["competitions"]["comp3"]
    assert detection["details"]["car"] == {
        "positives": 1,
        "results": 3,
        "difficult": 0,
        "final_recall": 1.0,
        "final_precision": 1 / 3,
    }
    assert detection["secondary"]["average_precision_with_difficult"] == {
        "per_class": {"car": 1.0},
        "mean": 1.0,
        "mean_over": 1,
    }
    assert "confusion_matrix" not in detection
    segmentation = evaluation["competitions"]["comp5"]
    assert segmentation["per_class"]["car"] == 1.0
    assert segmentation["per_class"]["background"] == 3 / 4
    assert segmentation["per_class"]["tvmonitor"] == 0.0
    assert segmentation["per_class"]["cat"] is None
    assert segmentation["confusion_matrix"][20][0] == 1
    assert evaluation["competitions"]["comp9"]["per_class"] == {"walking": 0.5}


def test_segmentation_is_scored_on_the_classes_declared(tmp_path: Path) -> None:
    scores = run(tmp_path, segmentation_classes=("car",)).scores["comp5"]
    assert scores.primary.per_class == {"background": 0.75, "car": 1.0}
    assert len(scores.not_entered) == 19


def test_an_error_anywhere_means_that_nothing_is_scored(tmp_path: Path) -> None:
    wrong = RESULTS | {"results/VOC2012/Main/comp1_cls_test_cat.txt": "m1 nan\n"}
    evaluation = run(tmp_path, wrong)
    assert evaluation.scores == {}
    errors = [problem for problem in evaluation.problems if problem.severity is Severity.ERROR]
    assert [(error.file, error.line) for error in errors] == [("results/VOC2012/Main/comp1_cls_test_cat.txt", 1)]


def test_a_competition_without_ground_truth_is_unavailable_not_zero(tmp_path: Path) -> None:
    evaluation = run(tmp_path, without="SegmentationClass")
    assert evaluation.unavailable == ("comp5",)
    assert list(evaluation.scores) == ["comp1", "comp3", "comp9"]
    assert evaluation.as_json()["unavailable"] == ["comp5"]


def test_refuses_the_ground_truth_of_another_edition(tmp_path: Path) -> None:
    truth = read_ground_truth(trees.write(tmp_path / "tree", trees.files_of_2012()), VOC2012)
    with pytest.raises(ValueError, match="VOC2012"):
        evaluate(tmp_path, load("VOC2011"), truth)
