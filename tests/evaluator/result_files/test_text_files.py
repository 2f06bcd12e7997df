"""Classification, detection and action files: each line's problems, where they are."""

import json
import time
from collections.abc import Callable, Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.evaluator.uploads import image_sets
from vocboard.evaluator.editions import Limits, Task
from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.result_files.columns import read_columns
from vocboard.evaluator.result_files.items import Items
from vocboard.evaluator.result_files.line_format import CONFIDENCE, IMAGE, LineFormat
from vocboard.evaluator.result_files.report import FileReport
from vocboard.evaluator.results import Confidences, Detections
from vocboard.evaluator.tasks.action.format import read_people
from vocboard.evaluator.tasks.classification.format import read_images
from vocboard.evaluator.tasks.detection.format import read_detections

FILE = "results/file.txt"
READERS: Mapping[Task, Callable[..., Confidences | Detections | None]] = {
    Task.CLASSIFICATION: read_images,
    Task.ACTION: read_people,
    Task.DETECTION: read_detections,
}


def items(task: Task) -> Items:
    return Items(task, image_sets().sets[task, "test"])


def read(
    task: Task, data: bytes, limits: Limits | None = None, known: bool = True
) -> tuple[Confidences | Detections | None, FileReport]:
    report = FileReport(FILE)
    return READERS[task](data, items(task) if known else Items(task, None), limits or Limits(), report), report


def found(task: Task, text: str | bytes, limits: Limits | None = None) -> list[tuple[str, int | None]]:
    data = text.encode() if isinstance(text, str) else text
    content, report = read(task, data, limits)
    problems = report.problems()
    assert (content is None) == report.has_errors
    assert all(problem.file == FILE for problem in problems)
    return [(problem.code, problem.line) for problem in problems]


@pytest.mark.parametrize(
    ("fields", "line"), [((IMAGE, "x"), "000001 250"), ((IMAGE, "x", CONFIDENCE), "000001 250 0.5")]
)
def test_the_range_of_confidences_is_that_of_the_field_of_this_name(fields: tuple[str, ...], line: str) -> None:
    report = FileReport(FILE)
    line_format = LineFormat(fields, confidence_range=(0.0, 1.0))
    columns = read_columns(f"{line}\n".encode(), line_format, items(Task.CLASSIFICATION), Limits(), report)
    assert (columns is not None, report.problems()) == (True, [])


class TestValidFiles:
    def test_classification(self) -> None:
        content, report = read(Task.CLASSIFICATION, b"000002 0.5\n000001 -1e-3\n000003 7\n")
        assert isinstance(content, Confidences)
        assert content.item.tolist() == [1, 0, 2]
        assert content.confidence.tolist() == [0.5, -1e-3, 7.0]
        assert report.problems() == []

    def test_detection_keeps_the_order_of_the_file_and_all_digits(self) -> None:
        text = b"000003 0.1 1 2 3.5 4\n000001 0.30000000000000004 1 1 8 6\n000003 0.1 1 2 3 4\n"
        content, report = read(Task.DETECTION, text)
        assert isinstance(content, Detections)
        assert content.image.tolist() == [2, 0, 2]
        assert content.confidence[1] == 0.30000000000000004
        assert content.box.tolist() == [[1, 2, 3.5, 4], [1, 1, 8, 6], [1, 2, 3, 4]]
        assert report.problems() == []

    def test_action_items_are_people(self) -> None:
        content, _ = read(Task.ACTION, b"000003 2 0.5\n000003 1 0.25\n000001 1 0\n000002 1 0\n")
        assert isinstance(content, Confidences)
        assert content.item.tolist() == [3, 2, 0, 1]

    @pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
    def test_line_ends_tabs_and_blank_lines_do_not_matter(self, end: str) -> None:
        text = end.join(["  000001\t0.5 ", "", "000002  0.25", "   ", "000003 1"])
        content, report = read(Task.CLASSIFICATION, text.encode())
        assert isinstance(content, Confidences)
        assert content.confidence.tolist() == [0.5, 0.25, 1.0]
        assert report.problems() == []

    def test_unknown_test_data_takes_any_identifier_in_the_order_of_appearance(self) -> None:
        content, report = read(Task.DETECTION, b"b 1 1 1 2 2\na 1 1 1 2 2\nb 1 1 1 2 2\n", known=False)
        assert isinstance(content, Detections)
        assert content.image.tolist() == [0, 1, 0]
        assert report.problems() == []

    def test_fifty_thousand_detections_take_well_under_half_a_second(self) -> None:
        names = [f"{number:06}" for number in range(5_000)]
        lines = [
            f"{names[n % 5_000]} 0.{n:06} {n % 300}.5 {n % 200} {n % 300 + 50} {n % 200 + 60}.25" for n in range(52_000)
        ]
        known = Items(Task.DETECTION, ImageSet(tuple(names), np.full((5_000, 2), 500, dtype=np.int32)))
        data = "\n".join(lines).encode()
        began = time.process_time()
        read_detections(data, known, Limits(), FileReport(FILE))
        assert time.process_time() - began < 0.5

    def test_a_file_longer_than_a_block_keeps_its_order(self) -> None:
        data = "".join(f"00000{number % 3 + 1} {number} 1 1 2 2\n" for number in range(250_001)).encode()
        content, _ = read(Task.DETECTION, data, Limits(detections_per_image=100_000))
        assert isinstance(content, Detections)
        assert np.array_equal(content.confidence, np.arange(250_001))
        assert np.array_equal(content.image, np.arange(250_001) % 3)

    def test_numbers_of_lines_are_those_of_the_file_in_every_block(self) -> None:
        lines = ["000001 1 1 1 2 2", ""] * 200_000
        lines[300_000] = "000001 1 5 1 4 2"
        lines[350_000] = "000001 1 5 1 4 2"
        content, report = read(Task.DETECTION, "\n".join(lines).encode(), Limits(detections_per_image=200_000))
        assert content is not None
        [problem] = report.problems()
        assert (problem.code, problem.line) == ("box_upside_down", 300_001)
        assert problem.message.startswith("2 of 200,000 boxes (the first here)")
        assert json.dumps(problem.as_json())


class TestErrors:
    @pytest.mark.parametrize(
        ("line", "code"),
        [
            ("000001", "confidence_missing"),
            ("000001 0.5 1", "wrong_number_of_fields"),
            ("000009 0.5", "unknown_image"),
            ("000001.jpg 0.5", "image_with_file_name"),
            ("000001 high", "not_a_number"),
            ("000001 1_000", "not_a_number"),
            ("000001 ٣", "not_a_number"),
            ("000001 0x10", "not_a_number"),
            ("000001 1,5", "comma_decimal"),
            ("000001 NaN", "not_finite"),
            ("000001 -inf", "not_finite"),
            ("000001 1e999", "not_finite"),
            ("000001 1e31", "number_out_of_range"),
            ("000002 0.5", "repeated_image"),
            ("000001 0.5" + " " * 1_000, "line_too_long"),
        ],
    )
    def test_classification_line(self, line: str, code: str) -> None:
        assert found(Task.CLASSIFICATION, f"000002 1\n\n{line}\n000003 1\n") == [(code, 3)]

    @pytest.mark.parametrize(
        ("line", "code"),
        [
            ("000001 0.5", "object_index_missing"),
            ("000001 1", "confidence_missing"),
            ("000001", "wrong_number_of_fields"),
            ("000001 0 0.5", "object_index_zero"),
            ("000001 1.0 0.5", "bad_object_index"),
            ("000001 -1 0.5", "bad_object_index"),
            ("000001 99999999999999 0.5", "bad_object_index"),
            ("000001 2 0.5", "unknown_person"),
            ("000003 1 0.5", "repeated_person"),
        ],
    )
    def test_action_line(self, line: str, code: str) -> None:
        assert found(Task.ACTION, f"000003 1 1\n{line}\n") == [(code, 2)]

    def test_every_problem_of_a_line_and_of_a_file_is_reported_at_once(self) -> None:
        text = "000009 nan 1 x 3 4\n000001 1 1 1 1\n000001 1 1 1 2 1e40\n"
        assert found(Task.DETECTION, text) == [
            ("unknown_image", 1),
            ("not_finite", 1),
            ("not_a_number", 1),
            ("confidence_missing", 2),
            ("number_out_of_range", 3),
        ]

    def test_wrong_lines_far_apart_and_repetitions_across_blocks_are_all_found(self) -> None:
        names = [f"{number:06}" for number in range(200_000)]
        lines = [f"{name} 1" for name in names]
        lines[1_000], lines[90_000], lines[150_000], lines[199_999] = "000007 1", "090000", "150000 x", "000001 1"
        known = Items(Task.CLASSIFICATION, ImageSet(tuple(names)))
        report = FileReport(FILE)
        assert read_images("\n".join(lines).encode(), known, Limits(), report) is None
        assert [(problem.code, problem.line) for problem in report.problems()] == [
            ("repeated_image", 1_001),
            ("confidence_missing", 90_001),
            ("not_a_number", 150_001),
            ("repeated_image", 200_000),
        ]
        assert "already has a confidence in line 8" in report.problems()[0].message

    def test_bytes_that_are_no_text_are_found_in_their_line(self) -> None:
        assert found(Task.CLASSIFICATION, b"000001 0.5\n000002 \xff\n") == [("not_utf8", 2)]
        for encoding in ("utf-16", "utf-16-le", "utf-16-be"):
            assert found(Task.CLASSIFICATION, "000001 0.5\n".encode(encoding)) == [("utf16", None)]
        assert found(Task.DETECTION, ("000001 0.5 1 2 3 4\n" * 10_000).encode("utf-16-le")) == [("utf16", None)]

    def test_a_nul_byte_is_part_of_no_number(self) -> None:
        assert found(Task.CLASSIFICATION, b"000001 0.5\x00\n") == [("not_a_number", 1)]

    def test_no_more_than_twenty_are_listed_and_the_rest_is_counted_by_kind(self) -> None:
        _, report = read(Task.CLASSIFICATION, b"x 1\n" * 30 + b"000001 1 2\n")
        problems = report.problems()
        assert [problem.code for problem in problems] == ["unknown_image"] * 20 + ["more_problems"]
        assert "11 more problems" in problems[-1].message
        assert "10 unknown_image, 1 wrong_number_of_fields" in problems[-1].message

    def test_a_file_that_is_wrong_in_every_line_is_not_read_to_its_end(self) -> None:
        _, report = read(Task.DETECTION, b"000001 x 1 1 2 2\n" * 500_000)
        listed = report.problems()
        assert [problem.code for problem in listed] == ["not_a_number"] * 20 + ["more_problems", "reading_stopped"]
        assert listed[-1].line == report.reported().lines == report.errors  # one in each line that was read
        assert 20_000 < report.errors < 100_000

    def test_thousands_of_unknown_images_are_reported_fast(self) -> None:
        known = Items(Task.CLASSIFICATION, ImageSet(tuple(f"2008_{number:06}" for number in range(10_000))))
        began = time.process_time()
        for _ in range(60):
            read_images(b"2008_99999x 1\n" * 100, known, Limits(), FileReport(FILE))
        assert time.process_time() - began < 5

    def test_limits_of_the_edition(self) -> None:
        assert found(Task.DETECTION, "000001 1 1 1 2 2\n" * 3, Limits(lines_per_file=2)) == [("too_many_lines", None)]
        text = "000001 1 1 1 2 2\n" * 3 + "000002 1 1 1 2 2\n"
        assert found(Task.DETECTION, text, Limits(detections_per_image=2)) == [("too_many_detections", None)]

    def test_messages_say_what_was_found_what_was_expected_and_how_to_fix_it(self) -> None:
        _, report = read(Task.CLASSIFICATION, b"000001.jpg 1\n000011 1\n000002 0,5\n000003 1 2\n")
        suffix, split, number, fields = (problem.message for problem in report.problems())
        assert "'000001.jpg' is a file name, expected only the identifier: '000001'" in suffix
        assert "may belong to another split" in split
        assert "confidence is '0,5'" in number
        assert "3 fields, expected 2: <image> <confidence>" in fields

    @pytest.mark.parametrize("mark", [",", ", ", ";", " ", "\t"])
    def test_a_column_of_row_numbers_is_named(self, mark: str) -> None:
        for line in ("0 000001 0.5 1 2 3 4", "17 000002 0.5 1 2 3 4"):
            _, report = read(Task.DETECTION, line.replace(" ", mark).encode())
            said = report.problems()[0].message
            assert "a row number, which must not be there (pandas: `index=False, header=False`)" in said
        for line in ("000001 0.5 1 2 3 4 5", "1 car 0.5 1 2 3 4"):
            _, report = read(Task.DETECTION, line.replace(" ", mark).encode())
            assert "row number" not in report.problems()[0].message

    @pytest.mark.parametrize(
        ("identifier", "message"),
        [
            ("1", "without its leading zeros it is not '000001'"),
            ("0000001", "with leading zeros it is not '000001'"),
            ("000009", "may belong to another split (train, val) or another year"),
            ("00000x1", "the most similar is '000001'"),
            ('"000001"', "the most similar is '000001'"),
            ("elsewhere", "of 3 images such as '000001'. Take"),
            ("JPEGImages/000001.jpg", "is a path, expected only the identifier: '000001'"),
            ("C:\\VOC\\000001.JPG", "is a path, expected only the identifier: '000001'"),
            ("JPEGImages/000009.jpg", "is not in the classification test set"),
        ],
    )
    def test_unknown_images_are_distinguished(self, identifier: str, message: str) -> None:
        _, report = read(Task.CLASSIFICATION, f"{identifier} 1\n".encode())
        assert message in report.problems()[0].message

    def test_an_image_of_another_task_is_reported_as_such(self) -> None:
        known = {task: ImageSet(images) for task, images in ((Task.CLASSIFICATION, ("a",)), (Task.ACTION, ("a", "b")))}
        report = FileReport(FILE)
        read_images(b"b 1\n", Items(Task.CLASSIFICATION, known[Task.CLASSIFICATION], known), Limits(), report)
        [problem] = report.problems()
        assert problem.code == "image_of_another_task"
        assert "'b' is in the test set of action, but not in the test set of classification" in problem.message

    @pytest.mark.parametrize(
        ("line", "code"),
        [
            ("000001 10 20 110 220", "confidence_missing"),
            ("000001 1 1 2 2", "confidence_missing"),
            ("000001 0.9 10 20 30", "wrong_number_of_fields"),  # a side is missing
            ("000001 5 30 10 20", "wrong_number_of_fields"),
            ("000001 nan 1 2 3", "wrong_number_of_fields"),
            ("000001 inf 1 inf 3", "confidence_missing"),
            ("000001 0.9", "box_missing"),
            ("000001 x", "wrong_number_of_fields"),
            ("000001,0.9,1,1,2,2", "wrong_separator"),
            ("000001; 0.9; 1; 1; 2; 2", "wrong_separator"),
            ("000001, 0.9, 1, 1, 2, 2", "wrong_separator"),
            ("000001 , 0.9 , 1 , 1 , 2 , 2", "wrong_separator"),
            ("000001, 0.9 1 1 2 2", "unknown_image"),
            ("000001;0.9 1 1 2 2", "wrong_separator"),
            ("000001 0.9 1 1 2 2 car", "wrong_number_of_fields"),
            ("0.9 000001 1 1 2 2", "image_in_another_column"),
            ("0.9 000001 000002 1 2 2", "unknown_image"),
        ],
    )
    def test_detection_line(self, line: str, code: str) -> None:
        assert found(Task.DETECTION, f"{line}\n")[0] == (code, 1)

    def test_a_nul_byte_as_image_of_an_unknown_test_set_is_an_image_like_any_other(self) -> None:
        content, report = read(Task.CLASSIFICATION, b"\0 5\n", known=False)
        assert content is not None
        assert report.problems() == []

    def test_hostile_text_is_shown_harmless_and_short(self) -> None:
        _, report = read(Task.CLASSIFICATION, "\x1b[31m{evil}%s\u202e".encode() + b"A" * 500 + b" 1\n")
        message = report.problems()[0].message
        assert message.isprintable()
        assert len(message) < 400


class TestWarnings:
    def test_errors_and_warnings_of_a_file_are_in_the_order_of_its_lines(self) -> None:
        text = "000001 1 1 1 2 2\n000001 1 9 9 10 10\n000001 1 5 1 4 2\n"
        assert found(Task.DETECTION, text) == [("box_outside_image", 2), ("box_upside_down", 3)]

    def test_images_without_a_line_are_counted_once(self) -> None:
        assert found(Task.CLASSIFICATION, "000002 1\n") == [("images_without_confidence", None)]
        assert found(Task.ACTION, "000003 2 1\n") == [("persons_without_confidence", None)]
        assert found(Task.DETECTION, "000001 1 1 1 2 2\n") == []

    def test_boxes_that_can_match_nothing_are_counted_at_the_first(self) -> None:
        text = (
            "000001 1 1 1 2 2\n000001 1 5 1 4 2\n000001 1 1 5 2 4\n"  # upside down: lines 2 and 3
            "000001 1 -5 1 0.5 2\n000001 1 9 1 12 2\n000001 1 1 7 2 9\n"  # outside of 8 x 6: lines 4 to 6
            "000001 1 -3 -3 100 100\n000001 1 8 6 8 6\n"  # both reach into the image
        )
        content, report = read(Task.DETECTION, text.encode())
        assert isinstance(content, Detections)
        assert len(content.image) == 8
        upside_down, outside = report.problems()
        assert (upside_down.code, upside_down.line) == ("box_upside_down", 2)
        assert upside_down.message.startswith("2 of 8 boxes (the first here)")
        assert "swapped by a pixel or more has no area and cannot match" in upside_down.message
        assert (outside.code, outside.line) == ("box_outside_image", 4)
        assert outside.message.startswith("3 of 8 boxes (the first here)")

    def test_warned_line_is_that_of_the_file_despite_blank_lines(self) -> None:
        assert found(Task.DETECTION, "\n\n000001 1 5 1 4 2\n") == [("box_upside_down", 3)]

    def test_a_file_without_a_line_is_an_entry_without_results(self) -> None:
        content, report = read(Task.DETECTION, b"")
        assert isinstance(content, Detections)
        assert content.box.shape == (0, 4)
        assert [problem.code for problem in report.problems()] == ["empty_file"]

    @pytest.mark.parametrize(
        ("boxes", "warned"),
        [
            ("0 0 7 5", [("zero_based_boxes", 1)]),
            ("3 0 4 5", [("zero_based_boxes", 1)]),
            ("1 1 7 5", []),
            ("0 0 8 5", []),  # reaches the last column
            ("0 0 7 6", []),
            ("0 -1 7 5", []),  # reaches over the edge, as boxes may
            ("0.5 0.5 7 5", []),
        ],
    )
    def test_boxes_that_count_from_0_are_suspected(self, boxes: str, warned: list[tuple[str, int]]) -> None:
        assert found(Task.DETECTION, f"000001 1 {boxes}\n000002 1 2 2 3 3\n") == warned

    @pytest.mark.parametrize(
        ("text", "habits"),
        [
            ("000001 1\n", set()),
            ("000001 1\r\n000002 1\r", {"line_ends_of_windows"}),
            ("000001 1\r000002\t1\r", {"line_ends_of_old_macs", "tabs"}),
        ],
    )
    def test_what_a_program_does_in_all_its_files_is_noted_apart(self, text: str, habits: set[str]) -> None:
        _, report = read(Task.CLASSIFICATION, text.encode())
        assert {kind.code for kind in report.habits} == habits

    def test_people_without_a_line_are_not_said_to_be_judged(self) -> None:
        _, report = read(Task.ACTION, b"000003 2 1\n")
        [problem] = report.problems()
        assert "for all actions together" in problem.message
        assert "Those who count for this action are ranked last; the others do not matter." in problem.message

    def test_a_byte_order_mark_is_passed_over(self) -> None:
        text = b"\xef\xbb\xbf000001 1\n000002 1\n000003 1\n"
        assert found(Task.CLASSIFICATION, text) == [("byte_order_mark", None)]


FIELDS = st.sampled_from(
    [
        "000001",
        "000002",
        "000009",
        "1",
        "2",
        "0.5",
        "-1e3",
        "nan",
        "inf",
        "x",
        "1_0",
        "٣",
        "0",
        "1e31",
        "\x00",
        "+1",
        "1.",
    ]
)
LINES = st.lists(st.lists(FIELDS, max_size=7).map(" ".join), max_size=6)


@pytest.mark.parametrize("task", [Task.CLASSIFICATION, Task.DETECTION, Task.ACTION])
@given(lines=LINES, known=st.booleans())
def test_a_file_is_refused_if_and_only_if_a_line_explains_why(task: Task, lines: list[str], known: bool) -> None:
    """Columns are read by one way and explained by another; the two must agree on every file."""
    content, report = read(task, "\n".join(lines).encode(), known=known)
    assert (content is None) == report.has_errors
