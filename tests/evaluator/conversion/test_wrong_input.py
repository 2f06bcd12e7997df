"""Everything wrong with an input is told at once, with what to do, and nothing is written."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.evaluator.conversion import kit
from vocboard.evaluator.conversion import CategoryNames, ConversionError, coco_to_tree, read_category_names, to_results
from vocboard.evaluator.conversion.names import by_text
from vocboard.evaluator.problems import Problem

Row = dict[str, Any]


def row(image: object = 1, category: object = 7, box: object = (10, 10, 20, 20), score: object = 0.5) -> Row:
    return {"image_id": image, "category_id": category, "bbox": box, "score": score}


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    kit.tree(tmp_path)
    return tmp_path


def convert(directory: Path, content: object, name: str = "coco", **options: Any) -> tuple[Problem, ...]:
    source = directory / "in.json"
    source.write_text(content if isinstance(content, str) else json.dumps(content))
    done = to_results(
        name,
        source,
        directory / "results.tar.gz",
        edition=kit.edition(),
        competition="comp4",
        image_sets=kit.image_sets(directory),
        **options,
    )
    return done.problems


def refused(directory: Path, content: object, name: str = "coco", **options: Any) -> dict[str, str]:
    before = sorted(directory.iterdir())
    with pytest.raises(ConversionError) as caught:
        convert(directory, content, name, **options)
    assert [path for path in sorted(directory.iterdir()) if path.name != "in.json"] == before
    return {problem.code: problem.message for problem in caught.value.problems}


def test_all_kinds_at_once(directory: Path) -> None:
    rows = [
        row(image=397133),
        row(image=37777),
        row(category=90),
        row(category=18, box=[30, 30, -20, 5]),
        {"image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4]},
        row(score=float("nan")),
        row(box=[1, 2, 3]),
        3,
    ]
    found = refused(directory, rows)
    assert set(found) >= {
        "unknown_image",
        "unknown_category",
        "swapped_corners",
        "missing_score",
        "bad_score",
        "bad_bbox",
        "bad_record",
    }
    assert "397133, 37777; 2 detections" in found["unknown_image"]
    assert "--images" in found["unknown_image"]
    assert "90" in found["unknown_category"]
    assert "--categories" in found["unknown_category"]
    assert "in record 4" in found["swapped_corners"]
    assert "class_without_detections" not in found  # what is left after errors says nothing


def test_many_files_with_one_mistake_are_one_problem(directory: Path) -> None:
    labels = directory / "labels"
    labels.mkdir()
    for image in kit.IMAGES:
        (labels / f"{image}.txt").write_text("6 0.5 0.5 0.1 0.1\n")
    with pytest.raises(ConversionError) as caught:
        to_results(
            "yolo",
            labels,
            directory / "r.tar.gz",
            edition=kit.edition(),
            competition="comp4",
            image_sets=kit.image_sets(directory),
        )
    [problem] = caught.value.problems
    assert (problem.file, problem.line) == ("000001.txt", 1)
    assert "6 lines in 6 places, the first here" in problem.message


def test_boxes_of_images_of_another_size(directory: Path) -> None:
    assert (
        "Scale boxes back"
        in refused(directory, [row(box=[900 + n, 800, 50, 50]) for n in range(6)])["wrong_image_size"]
    )


@pytest.mark.parametrize(("scale", "is_found"), [(1.0, False), (1.05, False), (1.3, True)])
def test_boxes_of_enlarged_images_are_a_warning(directory: Path, scale: float, is_found: bool) -> None:
    """Such as those of a detector's input, when most of them still lie within the smaller original."""
    width, height = kit.SIZE
    boxes = [[0, 0, width / 2, height / 2]] * 4 + [[width / 2, 0, width / 2, height]] * 2
    found = convert(directory, [row(box=[side * scale for side in box]) for box in boxes])
    messages = [problem.message for problem in found if problem.code == "wrong_image_size"]
    assert len(messages) == is_found
    assert all("2 boxes of 6 reach far beyond" in message for message in messages)


def test_fractions_where_pixels_are_expected(directory: Path) -> None:
    assert (
        "format yolo" in refused(directory, [row(box=[0.1, 0.2, 0.3, 0.1 * n]) for n in range(6)])["looks_normalised"]
    )


def test_ground_truth_in_place_of_results(directory: Path) -> None:
    assert "ground truth" in refused(directory, {"images": [], "annotations": []})["ground_truth"]


def test_what_is_not_a_json(directory: Path) -> None:
    assert "not JSON" in refused(directory, "x 0.5 1 1 2 2")["not_json"]


def test_categories_by_name_are_matched_and_the_rest_dropped_on_request(directory: Path) -> None:
    names = directory / "names.txt"
    names.write_text("person\nbicycle\ncar\nmotorcycle\nairplane\nzebra\n")
    categories = read_category_names(names, 1)
    rows = [row(category=3), row(category=6), row(category=6), row(category=5)]
    assert "6 'zebra' (2)" in refused(directory, rows, categories=categories)["unknown_category"]
    problems = convert(directory, rows, categories=categories, drop_unmatched=True)
    assert "left_out_category" in {problem.code for problem in problems}
    missing = next(problem.message for problem in problems if problem.code == "class_without_detections")
    assert "motorbike" not in missing  # the model knows it: entered, with nothing found
    assert "bird" in missing


def test_yaml_names_of_a_data_set(directory: Path) -> None:
    path = directory / "data.yaml"
    path.write_text("path: x\nnames:\n  0: tv monitor\n  1: 'Motorcycle'  # two\nnc: 2\n")
    names = CategoryNames(kit.edition().classes, by_text(read_category_names(path, 0)), 0)
    assert [names.find(0), names.find("1"), names.find(2)] == ["tvmonitor", "motorbike", None]


def test_images_without_an_entry_are_a_warning(directory: Path) -> None:
    entry = {"boxes": [[1, 1, 20, 20]], "labels": [7], "scores": [0.5]}
    problems = convert(directory, {"000001": entry}, "torchvision")
    assert "000002, 000003" in next(problem.message for problem in problems if problem.code == "missing_image")


def test_lines_without_confidence_and_pixels_in_yolo(directory: Path) -> None:
    labels = directory / "labels"
    labels.mkdir()
    (labels / "000001.txt").write_text("6 0.5 0.5 0.1 0.1\n6 100 100 20 20 0.9\nx y\n")
    with pytest.raises(ConversionError) as caught:
        to_results(
            "yolo",
            labels,
            directory / "r.tar.gz",
            edition=kit.edition(),
            competition="comp4",
            image_sets=kit.image_sets(directory),
        )
    codes = [(problem.code, problem.line) for problem in caught.value.problems if problem.severity == "error"]
    assert codes == [("no_confidence", 1), ("not_normalised", 2), ("bad_line", 3)]
    assert not (directory / "r.tar.gz").exists()


def test_ground_truth_json_with_everything_wrong(directory: Path) -> None:
    document = {
        "images": [{"id": 1, "file_name": "a/1.jpg", "width": 10, "height": 10}, {"id": 2}],
        "categories": [{"id": 1, "name": "zebra"}, {"id": 2, "name": "car"}],
        "annotations": [
            {"image_id": 1, "category_id": 1, "bbox": [1, 1, 2, 2]},
            {"image_id": 9, "category_id": 2, "bbox": [1, 1, 2, 2]},
            {"image_id": 1, "category_id": 2, "bbox": [5, 5, 1, -2]},
            {"image_id": 1, "category_id": 2, "bbox": [5, 5, 90, 2]},
        ],
    }
    (directory / "in.json").write_text(json.dumps(document))
    with pytest.raises(ConversionError) as caught:
        coco_to_tree(directory / "in.json", directory / "tree", kit.edition())
    assert {problem.code for problem in caught.value.problems} == {
        "bad_image",
        "unknown_category",
        "unknown_image",
        "swapped_corners",
        "outside_image",
    }
    assert not (directory / "tree").exists()


def test_fractions_are_not_said_to_be_of_another_size(directory: Path) -> None:
    assert set(refused(directory, [row(box=[0.1, 0.2, 0.3, 0.4]) for _ in range(6)])) == {"looks_normalised"}


def test_a_file_for_a_directory_and_a_directory_for_a_file(directory: Path) -> None:
    found = refused(directory, [row()], "yolo")
    assert set(found) == {"not_a_directory"}
    assert "<image>.txt" in found["not_a_directory"]
    with pytest.raises(ConversionError, match="This is a directory"):
        to_results(
            "coco",
            directory,
            directory / "results.tar.gz",
            edition=kit.edition(),
            competition="comp4",
            image_sets=kit.image_sets(directory),
        )
    assert not (directory / "results.tar.gz").exists()
