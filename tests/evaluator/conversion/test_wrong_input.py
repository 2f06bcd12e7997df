"""Everything wrong with an input is told at once, with what to do, and nothing is written."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.evaluator.conversion import kit
from tests.evaluator.uploads import tar
from vocboard.evaluator.conversion import CategoryNames, ConversionError, coco_to_tree, read_category_names, to_results
from vocboard.evaluator.conversion.names import by_text
from vocboard.evaluator.conversion.reverse import convert_from_results
from vocboard.evaluator.problems import Problem

Row = dict[str, Any]


def row(image: object = 1, category: object = 7, box: object = (10, 10, 20, 20), score: object = 0.5) -> Row:
    return {"image_id": image, "category_id": category, "bbox": box, "score": score}


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    kit.tree(tmp_path)
    return tmp_path


def convert(directory: Path, content: object, name: str = "coco", **options: Any) -> tuple[Problem, ...]:
    source = content if isinstance(content, Path) else directory / "in.json"
    if source is not content:
        source.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
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


def mistakes(directory: Path, content: object, name: str = "coco", **options: Any) -> tuple[Problem, ...]:
    """Convert what is wrong, and return the problems; nothing may be written."""
    before = {path.name for path in directory.iterdir()} - {"in.json"}
    with pytest.raises(ConversionError) as caught:
        convert(directory, content, name, **options)
    assert {path.name for path in directory.iterdir()} - {"in.json"} == before
    return tuple(caught.value.problems)


def refused(directory: Path, content: object, name: str = "coco", **options: Any) -> dict[str, str]:
    """Convert what is wrong, and return the messages by code."""
    return {problem.code: problem.message for problem in mistakes(directory, content, name, **options)}


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


BAD_INPUTS: dict[str, tuple[list[Row], list[str]]] = {
    "another data set": (
        [row(image, 52) for image in (397133, 37777, 252219)],
        [
            "Images that are not in the image set, whose first is 000001: 397133, 37777, 252219",
            "--images",
            "52 (3)",
            "--categories",
        ],
    ),
    "swapped corners": (
        [row(box=[90, 80, -70, -60 - place]) for place in range(6)],
        ["Boxes whose right side is left of their left side", "6 boxes", "first in record 1", "sort the corners"],
    ),
    "wrong sizes": (
        [row(box=[1000 + place, 900, 50, 50]) for place in range(6)],
        ["6 boxes of 6 lie outside their images", "Scale boxes back"],
    ),
    "fractions": (
        [row(box=[0.1, 0.2, 0.3, 0.4 + place / 100]) for place in range(6)],
        ["smaller than two pixels", "use the format yolo"],
    ),
    "unknown categories": (
        [row(category=21 + place) for place in range(12)],
        ["21, 22, 23", "and 2 more", "--drop-unmatched", "12 detections"],
    ),
}
ROWS = json.dumps([row(box=[9, 19, 30, 30], score=0.9)] * 3)
BAD_CONTENTS: dict[str, tuple[bytes, list[str]]] = {
    "truncated": (ROWS[:-9].encode(), ["The JSON ends in the middle: the file is incomplete"]),
    "empty": (b" ", ["The file is empty."]),
    "syntax": (ROWS.replace("9,", "9;", 1).encode(), ["This is not JSON: ", " at column "]),
    "text after the end": (ROWS.encode() + b";", ["This is not JSON: extra data at column "]),
    "encoding": ('["caf\u00e9"]'.encode("latin-1"), ["not JSON in UTF-8"]),
    "repeated keys": (
        ROWS.replace('"score"', '"score": 1, "score"', 2).encode(),
        ["The same key more than once in an object: 'score' (2). Only one of its values would count."],
    ),
    "not finite": (
        ROWS.replace("0.9", "NaN").encode(),
        ["whose 'score' is not a finite number, such as NaN; 3 records"],
    ),
    "scores as text": (ROWS.replace("0.9", '"0.9"').encode(), ['not a finite number, such as "0.9"; 3 records']),
    "infinite boxes": (ROWS.replace("19", "Infinity").encode(), ["not four finite numbers, such as [9, NaN, 30, 30]"]),
}


@pytest.mark.parametrize("case", BAD_INPUTS | BAD_CONTENTS)
def test_each_mistake_is_explained(case: str, directory: Path) -> None:
    content, expected = (BAD_INPUTS | BAD_CONTENTS)[case]
    told = " ".join(refused(directory, content).values())
    for text in expected:
        assert text in told


def test_fractions_are_not_said_to_be_of_another_size(directory: Path) -> None:
    assert set(refused(directory, BAD_INPUTS["fractions"][0])) == {"looks_normalised"}


def test_many_files_with_one_mistake_are_one_problem(directory: Path) -> None:
    labels = directory / "labels"
    labels.mkdir()
    for image in kit.IMAGES:
        (labels / f"{image}.txt").write_text("6 0.5 0.5 0.1 0.1\n")
    [problem] = mistakes(directory, labels, "yolo")
    assert (problem.file, problem.line) == ("000001.txt", 1)
    assert "6 lines in 6 places, the first here" in problem.message


@pytest.mark.parametrize(("scale", "is_found"), [(1.0, False), (1.05, False), (1.3, True)])
def test_boxes_of_enlarged_images_are_a_warning(directory: Path, scale: float, is_found: bool) -> None:
    """Such as those of a detector's input, when most of them still lie within the smaller original."""
    width, height = kit.SIZE
    boxes = [[0, 0, width / 2, height / 2]] * 4 + [[width / 2, 0, width / 2, height]] * 2
    found = convert(directory, [row(box=[side * scale for side in box]) for box in boxes])
    messages = [problem.message for problem in found if problem.code == "wrong_image_size"]
    assert len(messages) == is_found
    assert all("2 boxes of 6 reach far beyond" in message for message in messages)


def test_right_and_bottom_in_place_of_width_and_height_are_not_only_to_be_scaled(directory: Path) -> None:
    width, height = kit.SIZE
    found = convert(directory, [row(box=[width / 2, height / 2, width * 0.9, height * 0.9])] * 6)
    [message] = [problem.message for problem in found if problem.code == "wrong_image_size"]
    assert "such as width and height (coco)" in message


@pytest.mark.parametrize("options", [{}, {"all_classes": True}])
@pytest.mark.parametrize(("name", "code"), [("mmdetection", "no_json_files"), ("ultralytics", "no_label_files")])
def test_a_directory_without_files_of_the_format(directory: Path, name: str, code: str, options: Any) -> None:
    (directory / "outputs" / "preds").mkdir(parents=True)
    (directory / "outputs" / "preds" / "000001.json").write_text("{}")
    assert set(refused(directory, directory / "outputs", name, **options)) == {code}


def test_an_output_without_detections(directory: Path) -> None:
    assert "--all-classes" in refused(directory, [])["no_detections"]
    assert set(refused(directory, [])) == {"no_detections"}


def test_ground_truth_in_place_of_results(directory: Path) -> None:
    assert "ground truth" in refused(directory, {"images": [], "annotations": []})["ground_truth"]
    scored = [{"image_id": 1, "category_id": 1, "bbox": [1, 1, 2, 2], "score": 0.5}]
    assert "no scores" not in refused(directory, {"annotations": scored})["ground_truth"]


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


@pytest.mark.parametrize(
    "text",
    [
        "names:\n  0: tv monitor\n  # two wheels\n  1: 'Motorcycle'  # two\n",
        "names: ['tv monitor',\n  'Motorcycle']  # 2\n",
    ],
)
def test_yaml_names_of_a_data_set(directory: Path, text: str) -> None:
    path = directory / "data.yaml"
    path.write_text(f"path: x\n{text}nc: 2\n")
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
    found = mistakes(directory, labels, "yolo")
    codes = [(problem.code, problem.line) for problem in found if problem.severity == "error"]
    assert codes == [("no_confidence", 1), ("not_normalised", 2), ("bad_line", 3)]


def test_links_are_refused_not_passed_over(directory: Path) -> None:
    (directory / "label").write_text("6 0.5 0.5 0.1 0.1 0.9\n")
    (directory / "labels").mkdir()
    (directory / "labels" / "000001.txt").symlink_to(directory / "label")
    assert set(refused(directory, directory / "labels", "yolo")) == {"not_a_regular_file"}


def test_yolo_files_of_two_runs_are_not_mixed(directory: Path) -> None:
    for run in ("predict", "predict2"):
        (directory / "runs" / run / "labels").mkdir(parents=True)
        (directory / "runs" / run / "labels" / "000001.txt").write_text("6 0.5 0.5 0.1 0.1 0.9\n")
    found = refused(directory, directory / "runs", "yolo")
    assert found == {
        "repeated_file": "Images with several files: 000001. Name the folder of one run: an image has one file."
    }


def test_ground_truth_json_with_everything_wrong(directory: Path) -> None:
    document = {
        "images": [
            {"id": 1, "file_name": "a/1.jpg", "width": 10, "height": 10},
            {"id": 2},
            {"id": 3, "file_name": "\x01.jpg"},
            {"id": 4, "file_name": "4.jpg", "width": 0, "height": 10},
            {"id": 5, "file_name": "5.jpg", "width": "10", "height": 10},
            {"id": 1, "file_name": "b.jpg", "width": 10, "height": 10},
        ],
        "categories": [{"id": 1, "name": "zebra"}, {"id": 2, "name": "car"}, {"id": 3}, {"id": 2, "name": "dog"}],
        "annotations": [
            {"image_id": 1, "category_id": 1, "bbox": [1, 1, 2, 2]},
            {"image_id": 9, "category_id": 2, "bbox": [1, 1, 2, 2]},
            {"image_id": 1, "category_id": 2, "bbox": [5, 5, 1, -2]},
            {"image_id": 1, "category_id": 2, "bbox": [5, 5, 90, 2]},
            {"image_id": 1, "category_id": 2, "bbox": [5, 5, 2, 2], "actions": ["walking"]},
            {"image_id": 1, "category_id": 2, "bbox": [5, 5, 2, 2], "iscrowd": "0"},
        ],
    }
    (directory / "in.json").write_text(json.dumps(document))
    with pytest.raises(ConversionError) as caught:
        coco_to_tree(directory / "in.json", directory / "tree", kit.edition())
    messages = {problem.code: problem.message for problem in caught.value.problems}
    assert "3 images" in messages["bad_image"]
    assert "2 annotations" in messages["bad_annotation"]
    assert messages.keys() == {
        "bad_image",
        "bad_image_name",
        "repeated_image_id",
        "bad_category",
        "repeated_category_id",
        "bad_annotation",
        "unknown_category",
        "unknown_image",
        "swapped_corners",
        "outside_image",
    }
    assert not (directory / "tree").exists()


def test_fields_of_ground_truth_json_that_are_null_are_as_if_they_were_not_there(directory: Path) -> None:
    row = {"image_id": 1, "category_id": 1, "bbox": [1, 1, 2, 2], "parts": None, "actions": None, "view": None}
    image = {"id": 1, "file_name": "1.jpg", "width": 10, "height": 10}
    found = []
    for name, annotation in (("with", row), ("without", dict(list(row.items())[:3]))):
        document = {"images": [image], "categories": [{"id": 1, "name": "car"}], "annotations": [annotation]}
        (directory / "in.json").write_text(json.dumps(document))
        coco_to_tree(directory / "in.json", directory / name, kit.edition())
        found.append((directory / name / "VOC2007" / "Annotations" / "1.xml").read_text())
    assert found[0] == found[1]


def test_a_file_for_a_directory_and_a_directory_for_a_file(directory: Path) -> None:
    found = refused(directory, [row()], "yolo")
    assert set(found) == {"not_a_directory"}
    assert "<image>.txt" in found["not_a_directory"]
    [problem] = mistakes(directory, directory)
    assert "This is a directory" in problem.message


@pytest.mark.parametrize(
    ("target", "competition", "code", "held"),
    [
        ("coco", "comp4", "not_detection", "comp3, comp4"),
        ("layout", "comp7", "not_layout", "comp7, comp8"),
        ("greyscale", "comp5", "not_segmentation", "comp5, comp6"),
    ],
)
def test_results_without_the_competition(directory: Path, target: str, competition: str, code: str, held: str) -> None:
    results = tar(
        directory / "results.tgz", {"comp1_cls_test_car.txt": "".join(f"{image} 1\n" for image in kit.IMAGES)}
    )
    for key, expected in ((competition, "no_results"), ("comp1", code)):
        with pytest.raises(ConversionError) as caught:
            convert_from_results(
                target, results, directory / "out", edition=kit.edition(), competition=key,
                image_sets=kit.image_sets(directory),
            )  # fmt: skip
        [problem] = caught.value.problems
        assert problem.code == expected
        if expected == code:
            assert problem.message.startswith("'comp1' is not a ")
            assert problem.message.endswith(f"It has {held}.")
        assert not (directory / "out").exists()
