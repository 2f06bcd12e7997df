"""Classification, detection and action files: each line's problems, where they are."""

import time
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.editions import Limits, Task
from evaluator.image_sets import ImageSet
from evaluator.result_files.confidences import read_confidences
from evaluator.result_files.detections import read_detections
from evaluator.result_files.items import Items
from evaluator.result_files.report import FileReport
from evaluator.results import Confidences, Detections
from tests.evaluator.uploads import image_sets

FILE = "results/file.txt"


def items(task: Task) -> Items:
    return Items(task, image_sets().sets[task, "test"])


def read(
    task: Task, data: bytes, limits: Limits | None = None, known: bool = True
) -> tuple[Confidences | Detections | None, FileReport]:
    report = FileReport(FILE)
    parse: Callable[..., Confidences | Detections | None] = (
        read_detections if task is Task.DETECTION else read_confidences
    )
    return parse(data, items(task) if known else Items(task, None), limits or Limits(), report), report


def found(task: Task, text: str | bytes, limits: Limits | None = None) -> list[tuple[str, int | None]]:
    data = text.encode() if isinstance(text, str) else text
    content, report = read(task, data, limits)
    problems = report.problems()
    assert (content is None) == report.has_errors
    assert all(problem.file == FILE for problem in problems)
    return [(problem.code, problem.line) for problem in problems]


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


class TestErrors:
    @pytest.mark.parametrize(
        ("line", "code"),
        [
            ("000001", "wrong_number_of_fields"),
            ("000001 0.5 1", "wrong_number_of_fields"),
            ("000009 0.5", "unknown_image"),
            ("000001.jpg 0.5", "unknown_image"),
            ("000001 high", "not_a_number"),
            ("000001 1_000", "not_a_number"),
            ("000001 ٣", "not_a_number"),
            ("000001 0x10", "not_a_number"),
            ("000001 1,5", "not_a_number"),
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
            ("000001 0.5", "wrong_number_of_fields"),
            ("000001 0 0.5", "bad_object_index"),
            ("000001 1.0 0.5", "bad_object_index"),
            ("000001 -1 0.5", "bad_object_index"),
            ("000001 99999999999999 0.5", "bad_object_index"),
            ("000001 2 0.5", "unknown_person"),
            ("000003 1 0.5", "repeated_person"),
        ],
    )
    def test_action_line(self, line: str, code: str) -> None:
        assert found(Task.ACTION, f"000003 1 1\n{line}\n") == [(code, 2)]

    def test_every_problem_of_a_line_and_of_a_file_is_told_at_once(self) -> None:
        text = "000009 nan 1 x 3 4\n000001 1 1 1 1\n000001 1 1 1 2 1e40\n"
        assert found(Task.DETECTION, text) == [
            ("unknown_image", 1),
            ("not_finite", 1),
            ("not_a_number", 1),
            ("wrong_number_of_fields", 2),
            ("number_out_of_range", 3),
        ]

    def test_bytes_that_are_no_text_are_found_in_their_line(self) -> None:
        assert found(Task.CLASSIFICATION, b"000001 0.5\n000002 \xff\n") == [("not_utf8", 2)]
        assert found(Task.CLASSIFICATION, "000001 0.5\n".encode("utf-16"))[0][0] == "not_utf8"

    def test_a_nul_byte_is_part_of_no_number(self) -> None:
        assert found(Task.CLASSIFICATION, b"000001 0.5\x00\n") == [("not_a_number", 1)]

    def test_no_more_than_twenty_are_listed_and_the_rest_is_counted_by_kind(self) -> None:
        _, report = read(Task.CLASSIFICATION, b"x 1\n" * 30 + b"000001\n")
        problems = report.problems()
        assert [problem.code for problem in problems] == ["unknown_image"] * 20 + ["more_problems"]
        assert "11 more problems" in problems[-1].message
        assert "10 unknown_image, 1 wrong_number_of_fields" in problems[-1].message

    def test_thousands_of_unknown_images_are_told_fast(self) -> None:
        known = Items(Task.CLASSIFICATION, ImageSet(tuple(f"2008_{number:06}" for number in range(10_000))))
        began = time.process_time()
        for _ in range(60):
            read_confidences(b"2008_99999x 1\n" * 100, known, Limits(), FileReport(FILE))
        assert time.process_time() - began < 5

    def test_limits_of_the_edition(self) -> None:
        assert found(Task.DETECTION, "000001 1 1 1 2 2\n" * 3, Limits(lines_per_file=2)) == [("too_many_lines", None)]
        text = "000001 1 1 1 2 2\n" * 3 + "000002 1 1 1 2 2\n"
        assert found(Task.DETECTION, text, Limits(detections_per_image=2)) == [("too_many_detections", None)]

    def test_messages_say_what_was_found_what_was_expected_and_how_to_mend_it(self) -> None:
        _, report = read(Task.CLASSIFICATION, b"000001.jpg 1\n000011 1\n000002 0,5\n000003 1 2\n")
        suffix, similar, number, fields = (problem.message for problem in report.problems())
        assert "'000001.jpg'" in suffix
        assert "without '.jpg'" in suffix
        assert "the most similar is '000001'" in similar
        assert "confidence is '0,5'" in number
        assert "3 fields, expected 2: <image> <confidence>" in fields

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
        assert upside_down.message.startswith("2 boxes")
        assert (outside.code, outside.line) == ("box_outside_image", 4)
        assert outside.message.startswith("3 boxes")

    def test_warned_line_is_that_of_the_file_despite_blank_lines(self) -> None:
        assert found(Task.DETECTION, "\n\n000001 1 5 1 4 2\n") == [("box_upside_down", 3)]

    def test_a_file_without_a_line_is_an_entry_without_results(self) -> None:
        content, report = read(Task.DETECTION, b"")
        assert isinstance(content, Detections)
        assert content.box.shape == (0, 4)
        assert [problem.code for problem in report.problems()] == ["empty_file"]

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
