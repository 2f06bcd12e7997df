"""Detection files that hold all classes, each line's in its last column, with confidences of a given range."""

import numpy as np
import pytest

from vocboard.evaluator.editions import Limits, Task, load
from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.reading.file_names import FileNames
from vocboard.evaluator.result_files.items import Items
from vocboard.evaluator.result_files.report import FileReport
from vocboard.evaluator.results import Detections
from vocboard.evaluator.tasks.detection.format import read_detections_by_class

CLASSES = load("ParallelEye").classes
IMAGES = ImageSet(("151", "152", "153"), np.full((3, 2), 600, dtype=np.int32))


def read(text: str, limits: Limits | None = None) -> tuple[dict[str, Detections] | None, FileReport]:
    report = FileReport("Det_test_result.txt")
    items = Items(Task.DETECTION, IMAGES)
    by_class = read_detections_by_class(
        text.encode(), CLASSES, items, limits or Limits(), report, confidence_range=(0.0, 1.0)
    )
    return None if by_class is None else dict(by_class), report


def found(text: str, limits: Limits | None = None) -> list[tuple[str, int | None]]:
    content, report = read(text, limits)
    assert (content is None) == report.has_errors
    return [(problem.code, problem.line) for problem in report.problems()]


def test_the_excerpt_of_the_challenges_page_is_read() -> None:
    by_class, report = read(
        "151 0.702732 89 112 516 466 Car\n"
        "152 0.870849 373 168 488 229 Car\n"
        "153 0.852346 407 157 500 213 Bus\n"
        "153 0.914587 2 161 55 221 Car\n"
        "153 0.532489 175 184 232 201 Car\n"
    )
    assert report.problems() == []
    assert by_class["Car"].image.tolist() == [0, 1, 2, 2]
    assert by_class["Car"].confidence.tolist() == [0.702732, 0.870849, 0.914587, 0.532489]
    assert by_class["Bus"].box.tolist() == [[407, 157, 500, 213]]
    assert len(by_class["Truck"].image) == 0


def test_an_empty_file_enters_every_class() -> None:
    by_class, report = read("")
    assert by_class is not None
    assert set(by_class) == set(CLASSES)
    [problem] = report.problems()
    assert problem.code == "empty_file"
    assert "class" not in problem.message  # the file is for all of them


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("151 0.7 89 112 516 466 car", "wrong_class"),
        ("151 0.7 89 112 516 466 Bicycle", "wrong_class"),
        ("151 1.5 89 112 516 466 Car", "confidence_out_of_range"),
        ("151 -0.1 89 112 516 466 Car", "confidence_out_of_range"),
        ("151 nan 89 112 516 466 Car", "not_finite"),
        ("151 0.7 89 112 516 466", "wrong_number_of_fields"),
        ("151 89 112 516 466 Car", "confidence_missing"),
        ("151 0.7 Car", "box_missing"),
        ("151,0.7,89,112,516,466,Car", "wrong_separator"),
        ("0151 0.7 89 112 516 466 Car", "unknown_image"),
        ("0153 0.7 151 112 516 466 Car", "unknown_image"),  # 151 is the left side
    ],
)
def test_a_wrong_line_is_reported_among_right_ones(line: str, code: str) -> None:
    right = "152 0.5 1 1 20 20 Bus\n"
    assert found(f"{right}{line}\n{right}") == [(code, 2)]


def test_the_ends_of_the_range_belong_to_it() -> None:
    assert found("151 0 1 1 20 20 Car\n151 1 1 1 20 20 Car\n") == []


def test_a_confidence_after_the_box_is_not_only_to_be_scaled() -> None:
    [problem] = read("151 89 112 516 466 0.7 Car\n")[1].problems()
    assert "a number that is no confidence may be in the wrong column" in problem.message


def test_a_misspelt_class_suggests_its_spelling() -> None:
    [problem] = read("151 0.7 1 1 20 20 buses\n151 0.7 1 1 20 20 CARS\n")[1].problems()[1:]
    assert "expected one of Car, Bus, Truck; this one is spelt 'Car'" in problem.message


def test_detections_in_an_image_are_counted_by_class() -> None:
    lines = ["151 0.5 1 1 20 20 Car\n"] * 2 + ["151 0.5 1 1 20 20 Bus\n"] * 2
    assert found("".join(lines), Limits(detections_per_image=2)) == []
    assert found("".join(lines), Limits(detections_per_image=1)) == [("too_many_detections", None)] * 2


def test_boxes_that_match_nothing_are_counted_over_all_classes() -> None:
    assert found("151 0.5 20 1 1 20 Car\n152 0.5 20 1 1 20 Bus\n") == [("box_upside_down", 1)]


def test_the_file_has_one_name_whatever_the_class() -> None:
    names = FileNames(load("ParallelEye"))
    name = names.identify("results/Det_test_result.txt")
    assert (name.competition.key, name.label) == ("detection", None)
    assert names.examples() == "Det_test_result.txt"
