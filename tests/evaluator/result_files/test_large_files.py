"""Large text files: the column reader takes plain ones, and gives what the line walker gives, to the last bit."""

import struct
import sys

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vocboard.evaluator.editions import Limits, Task
from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.result_files import large_files
from vocboard.evaluator.result_files.items import Items
from vocboard.evaluator.result_files.large_files import (
    LARGE_BYTES,
    LARGE_BYTES_ONCE_IMPORTED,
    PlainColumns,
    has_column_reader,
    is_large_and_plain,
    parts_of,
    read_part,
)
from vocboard.evaluator.result_files.report import FileReport
from vocboard.evaluator.results import Detections
from vocboard.evaluator.tasks.detection.format import read_detections

IMAGES = ("000001", "000002", "2008_000003")
KNOWN = ImageSet(IMAGES, np.full((len(IMAGES), 2), 500, dtype=np.int32))
LIMITS = Limits(characters_per_line=60)
LINE = b"000001 0.5 1 2 3 4\n"

doubles = st.integers(0, 2**64 - 1).map(lambda bits: repr(struct.unpack("<d", struct.pack("<Q", bits))[0]))
decimals = st.from_regex(r"[+-]?[0-9]{0,25}(\.[0-9]{0,25})?([eE][+-]?[0-9]{1,3})?", fullmatch=True)
odd_numbers = st.sampled_from(
    ["nan", "inf", "-Infinity", "1e999", "1e-400", "5e-324", "-0", "+1", "1_0", "0x1p3", "1d5", "1,5", "1.", ".5", "٣"]
) | st.sampled_from(
    ["NULL", "NA", "#N/A", "null", "1e", "e1", ".", "-", "1f", "", '"1"', "9007199254740993", "2.2250738585072011e-308"]
)
odd_images = st.sampled_from(["000009", "", '"000001"', "00\x0b01", "\x1c", "é", "\xa0", "\ufeff000001", "a\x00b"])
separators = st.sampled_from([" "] * 12 + ["  ", "\t", "\x0b", "\x0c", "\x1f", ",", "\u2003"])
line_ends = st.sampled_from(["\n"] * 12 + ["\r\n", "\r", "\n\n", "\n \n", "", " \n", "\n     \n"])


@st.composite
def lines(draw: st.DrawFn) -> str:
    image = draw(st.sampled_from(IMAGES) | odd_images if draw(st.integers(0, 5)) == 0 else st.sampled_from(IMAGES))
    odd = draw(st.integers(0, 5)) == 0
    count = draw(st.sampled_from([5] * 10 + [4, 6])) if odd else 5
    numbers = [draw(doubles | decimals | odd_numbers if odd else doubles | decimals) for _ in range(count)]
    text = image
    for number in numbers:
        text += (draw(separators) if odd else " ") + number
    return text + (draw(line_ends) if odd else "\n")


def items_of(images: tuple[str, ...] | None) -> Items:
    return Items(Task.DETECTION, None if images is None else ImageSet(images))


def read_plain(data: bytes, items: Items, limits: Limits) -> PlainColumns | None:
    """A whole file; None if any of it is left to the line walker."""
    if not is_large_and_plain(data, limits):
        return None
    parts = [read_part(part, 1, 5, items, limits) for part in parts_of(data)]
    taken = [part for part in parts if part is not None]
    if len(taken) < len(parts):
        return None
    return PlainColumns(np.concatenate([part.item for part in taken]), np.hstack([part.numbers for part in taken]))


def walk(data: bytes, known: bool) -> tuple[Detections | None, list[str]]:
    """What is read with the line walker alone."""
    report = FileReport("file")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(large_files, "large_bytes", lambda: sys.maxsize)
        content = read_detections(data, Items(Task.DETECTION, KNOWN if known else None), LIMITS, report)
    return content, [problem.code for problem in report.problems()]


@pytest.mark.parametrize("known", [True, False])
@given(text=st.lists(lines(), min_size=1, max_size=4).map("".join))
@example(text="000001 0.30000000000000004 1e22 1e23 9007199254740993 -0\n")
@example(text="000001 0.5 1 2 3 4\n\n")
@example(text="000001 0.5 1 2 3 4\n000001 1e-400 1 2 3 4")
def test_what_it_reads_the_line_walker_reads_too(text: str, known: bool) -> None:
    data = text.encode()
    items = items_of(IMAGES if known else None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(large_files, "large_bytes", int)
        plain = read_plain(data, items, LIMITS)
    if plain is None:
        return
    content, problems = walk(data, known)
    assert content is not None, problems
    assert plain.item.tolist() == content.image.tolist()
    assert plain.numbers[0].tobytes() == content.confidence.tobytes()
    assert plain.numbers[1:].tobytes() == np.ascontiguousarray(content.box.T).tobytes()


@given(text=st.lists(st.tuples(st.sampled_from(IMAGES), *[st.floats(-1e30, 1e30)] * 5), min_size=1))
def test_it_reads_plain_files(text: list[tuple[object, ...]]) -> None:
    data = "".join(" ".join(map(str, row)) + "\n" for row in text).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(large_files, "large_bytes", int)
        plain = read_plain(data, items_of(IMAGES), Limits())
    assert plain.numbers.T.tolist() == [list(row[1:]) for row in text]


@pytest.mark.parametrize(("is_imported", "large"), [(False, LARGE_BYTES), (True, LARGE_BYTES_ONCE_IMPORTED)])
def test_files_are_large_from_fewer_bytes_on_once_it_is_imported(
    monkeypatch: pytest.MonkeyPatch, is_imported: bool, large: int
) -> None:
    assert has_column_reader()  # which imports it
    if not is_imported:
        monkeypatch.delitem(sys.modules, "pyarrow.csv")
    lines = large // len(LINE)
    assert [is_large_and_plain(LINE * number, Limits()) for number in (lines, lines + 1)] == [False, True]


@pytest.mark.parametrize(
    "line",
    [
        b"000009 0.5 1 2 3 4",
        b"000001 nan 1 2 3 4",
        b"000001 1e31 1 2 3 4",
        b"000001 0.5 1 2 3",
        b"000001 0.5 1 2 3 4 5",
        b"000001\t0.5 1 2 3 4",
        b"000001 0.5 1 2 3 4\r",
        b"000001 0.5 1 2 3 4" + b"0" * 1_000,
        b"",
        b"     ",
        "000001é 0.5 1 2 3 4".encode(),
    ],
)
def test_one_line_that_is_not_plain_is_left_to_the_line_walker(line: bytes) -> None:
    lines = LINE * (1 + LARGE_BYTES // len(LINE))
    assert read_plain(lines + line + b"\n" + lines, items_of(IMAGES), Limits()) is None


@pytest.mark.parametrize("line", ["000001 0,5 1,5 2,5 3,5 4,5\n", "x\n", "000001 0.5 1 2 3 4\n000009 0.5 1 2 3 4\n"])
def test_problems_of_files_that_only_some_processes_read_by_column_are_the_same_in_all(line: str) -> None:
    """Even of those with more problems than are counted."""
    data = (line * ((LARGE_BYTES - 1) // len(line))).encode()
    assert LARGE_BYTES_ONCE_IMPORTED < len(data) < LARGE_BYTES
    found = []
    for least in (LARGE_BYTES, LARGE_BYTES_ONCE_IMPORTED):
        report = FileReport("file")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(large_files, "large_bytes", lambda least=least: least)
            assert read_detections(data, Items(Task.DETECTION, KNOWN), Limits(), report) is None
        found.append(([(problem.code, problem.line, problem.message) for problem in report.problems()], report.lines))
    assert found[0] == found[1]


def test_parts_of_a_file_keep_its_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large_files, "_PART_BYTES", 1_000)
    data = b"".join(b"%s %d 1 2 3 4\n" % (IMAGES[n % 3].encode(), n) for n in range(20_000))
    for items in (items_of(IMAGES), items_of(None)):
        plain = read_plain(data, items, Limits())
        assert np.array_equal(plain.item, np.arange(20_000) % 3)
        assert np.array_equal(plain.numbers[0], np.arange(20_000))


def test_an_unknown_test_set_learns_no_image_from_a_part_left_to_the_line_walker() -> None:
    items = items_of(None)
    assert read_part(LINE * 1_000 + b"000002 high 1 2 3 4\n", 1, 5, items, Limits()) is None
    assert len(items.images) == 0


def test_wrong_lines_of_a_large_file_are_reported_by_their_numbers_and_leave_the_rest_to_the_column_reader() -> None:
    lines = [LINE] * 200_000
    wrong = {10: b"000001 high 1 2 3 4\n", 70_000: b"\n", 70_001: b"000001 0.5 1 2 3\n", 199_999: b"x 0.5 1 2 3 4"}
    for number, line in wrong.items():
        lines[number] = line
    report = FileReport("file")
    assert read_detections(b"".join(lines), Items(Task.DETECTION, KNOWN), Limits(), report) is None
    assert [(problem.code, problem.line) for problem in report.problems()] == [
        ("not_a_number", 11),
        ("wrong_number_of_fields", 70_002),
        ("unknown_image", 200_000),
    ]


def test_confidences_outside_of_the_range_are_found_in_large_files() -> None:
    data = LINE * 50_000 + b"000001 1.5 1 2 3 4\n" + LINE * 50_000
    report = FileReport("file")
    assert read_detections(data, Items(Task.DETECTION, KNOWN), Limits(), report, confidence_range=(0, 1)) is None
    assert [(problem.code, problem.line) for problem in report.problems()] == [("confidence_out_of_range", 50_001)]


def test_more_lines_than_a_file_may_have_are_not_taken() -> None:
    data = LINE * (1 + LARGE_BYTES // len(LINE))
    assert read_plain(data, items_of(IMAGES), Limits(lines_per_file=100)) is None


def test_a_listed_image_with_white_space_is_left_to_the_line_walker() -> None:
    data = b"a\x0bb 0.5 1 2 3 4\n"
    assert read_part(data, 1, 5, items_of(("a\x0bb",)), Limits()) is None
    assert read_part(LINE, 1, 5, items_of(IMAGES), Limits()) is not None
