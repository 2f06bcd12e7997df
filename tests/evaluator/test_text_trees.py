"""Trees with text annotations and flat image sets, from files to scores: VOC2005 and ParallelEye."""

from pathlib import Path

import pytest

from tests.evaluator.trees import write
from vocboard.evaluator.editions import Task, load
from vocboard.evaluator.evaluation import Evaluation, evaluate
from vocboard.evaluator.ground_truth import GroundTruth, GroundTruthError
from vocboard.evaluator.ground_truth.reader import read_ground_truth
from vocboard.evaluator.image_sets import ImageSets
from vocboard.evaluator.public_tree import read_image_sets

BOX = "(1, 1) - (10, 10)"


def annotation(*labels: str) -> str:
    boxes = "".join(
        f'Bounding box for object {number} "{label}" (Xmin, Ymin) - (Xmax, Ymax) : {BOX}\n'
        for number, label in enumerate(labels, start=1)
    )
    return (
        "# PASCAL Annotation Version 1.00\n\nImage size (X x Y x C) : 20 x 30 x 3\n"
        f"Objects with ground truth : {len(labels)} {{ }}\n\n# Top left pixel co-ordinates : (1, 1)\n\n{boxes}"
    )


def files_of_2005() -> dict[str, str | bytes]:
    """One set with a car in one of two images, one with a car in both of two."""
    return {
        "ImageSets/test1.txt": "a\nb\n",
        "ImageSets/test2.txt": "c\nd\n",
        "Annotations/a.txt": annotation("PAScarSide"),
        "Annotations/b.txt": annotation("PASpersonWalking"),
        "Annotations/c.txt": annotation("PAScar"),
        "Annotations/d.txt": annotation("PAScarRear", "PASbicycle"),
    }


def files_of_paralleleye() -> dict[str, str | bytes]:
    return {"ImageSets/test.txt": "1\n2\n3\n", "Annotations/test.txt": "1 1 1 10 10 Car\n3 1 1 10 10 Bus\n"}


def scored(directory: Path, name: str, tree: dict[str, str | bytes], results: dict[str, str | bytes]) -> Evaluation:
    truth = read_ground_truth(write(directory / name, tree), load(name))
    truth.save(directory / "stored")
    return evaluate(write(directory / "results", results), load(name), GroundTruth.load(directory / "stored"))


def test_each_test_set_of_2005_is_scored_on_its_own(tmp_path: Path) -> None:
    lines = {"test1": "a 0.9\nb 0.1\n", "test2": "c 0.9\nd 0.1\n"}
    results: dict[str, str | bytes] = {
        "comp1_cls_test1_cars.txt": lines["test1"],
        "comp2_cls_test2_cars.txt": lines["test2"],
        "comp2_cls_test2_bicycles.txt": lines["test2"],
        "comp5_det_test1_cars.txt": "a 0.9 1 1 10 10\n",
        "comp8_det_test2_cars.txt": "d 0.9 1 1 10 10\n",
    }
    evaluation = scored(tmp_path, "VOC2005", files_of_2005(), results)
    assert not evaluation.problems
    found = {key: scores["per_class"] for key, scores in evaluation.as_json()["competitions"].items()}
    assert found == {
        "comp1": {"cars": 1.0},
        "comp2": {"bicycles": 0.0, "cars": None},  # no image of test2 is without a car
        "comp5": {"cars": 1.0},
        "comp8": {"cars": pytest.approx(6 / 11)},
    }


def test_an_image_of_the_other_test_set_is_refused(tmp_path: Path) -> None:
    evaluation = scored(tmp_path, "VOC2005", files_of_2005(), {"comp1_cls_test1_cars.txt": "c 0.9\n"})
    assert evaluation.scores == {}
    assert [problem.line for problem in evaluation.problems] == [1]


def test_lists_of_a_class_go_before_the_annotations(tmp_path: Path) -> None:
    tree = files_of_2005() | {"ImageSets/cars_test1.txt": "a -1\nb 1\n"}
    evaluation = scored(tmp_path, "VOC2005", tree, {"comp1_cls_test1_cars.txt": "a 0.9\nb 0.1\n"})
    assert evaluation.scores["comp1"].primary.per_class == {"cars": 0.0}


def test_paralleleye_scores_all_three_classes_of_its_one_file(tmp_path: Path) -> None:
    results: dict[str, str | bytes] = {
        "results/Det_test_result.txt": "1 0.9 1 1 10 10 Car\n1 0.8 1 1 10 10 Car\n3 0.5 1 1 10 5 Bus\n"
    }
    evaluation = scored(tmp_path, "ParallelEye", files_of_paralleleye(), results)
    assert not evaluation.problems
    scores = evaluation.as_json()["competitions"]["detection"]
    assert scores["per_class"] == {"Car": 1.0, "Bus": 0.0, "Truck": None}  # exactly one half is too little
    assert (scores["details"]["Car"]["results"], scores["details"]["Truck"]["positives"]) == (2, 0)


@pytest.mark.parametrize(("name", "files"), [("VOC2005", files_of_2005()), ("ParallelEye", files_of_paralleleye())])
def test_what_is_public_is_the_same_with_and_without_the_truth(
    tmp_path: Path, name: str, files: dict[str, str | bytes]
) -> None:
    tree = write(tmp_path / name, files)
    public = read_image_sets(tree, load(name))
    assert public.to_json() == read_ground_truth(tree, load(name)).image_sets.to_json()
    assert ImageSets.from_json(public.to_json()).sets.keys() == public.sets.keys()


def test_sizes_of_images_come_out_of_text_annotations(tmp_path: Path) -> None:
    public = read_image_sets(write(tmp_path / "VOC2005", files_of_2005()), load("VOC2005"))
    sizes = public.sets[Task.DETECTION, "test2"].sizes
    assert sizes.tolist() == [[20, 30], [20, 30]]


def test_a_wrong_line_of_the_truth_is_reported_with_its_file(tmp_path: Path) -> None:
    tree = files_of_paralleleye() | {"Annotations/test.txt": "1 1 1 10 10 Car\n4 1 1 10 10 Car\n"}
    with pytest.raises(GroundTruthError) as raised:
        read_ground_truth(write(tmp_path / "ParallelEye", tree), load("ParallelEye"))
    [problem] = raised.value.problems
    assert (problem.file, problem.line) == ("Annotations/test.txt", 2)


def test_a_tree_without_truth_says_what_cannot_be_scored(tmp_path: Path) -> None:
    truth = read_ground_truth(write(tmp_path / "ParallelEye", {"ImageSets/test.txt": "1\n"}), load("ParallelEye"))
    assert truth.truths == {}
    assert truth.missing == {(Task.DETECTION, "test"): "its images have no Annotations"}
