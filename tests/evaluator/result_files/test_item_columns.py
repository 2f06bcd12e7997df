"""Large files that name people: the column reader finds those that the line walker finds, and leaves it all else."""

import sys

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vocboard.evaluator.editions import Limits, Task
from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.result_files import columns, large_files
from vocboard.evaluator.result_files.items import Items
from vocboard.evaluator.result_files.large_files import read_part
from vocboard.evaluator.result_files.report import FileReport
from vocboard.evaluator.results import Confidences
from vocboard.evaluator.tasks.action.format import read_people

IMAGES = ("000001", "000002", "2008_000003")
PERSONS = np.array([(2, 1), (0, 1), (0, 12), (1, 2**31 - 1)], dtype=np.int32)
NAMED = [f"{IMAGES[image]} {index}" for image, index in PERSONS.tolist()]

odd_indices = [
    "01",
    "0000000001",
    "00000000001",
    "+1",
    "-1",
    "1.0",
    "0x1",
    "0",
    "2",
    "1e0",
    "",
    "١",
    "4294967297",
    "1_2",
]
odd_indices += ["2147483648", "12345678901234567890123", '"1"', "\x0b1", "NULL"]
names = st.sampled_from(NAMED) | st.sampled_from([*(f"000001 {index}" for index in odd_indices), "000002 12", "x 1"])


def items(persons: np.ndarray = PERSONS) -> Items:
    return Items(Task.ACTION, ImageSet(IMAGES, None, persons))


def read(data: bytes, *, by_column: int, in_parts: int) -> tuple[Confidences | None, list[tuple[str, int | None, str]]]:
    """Read a file; the numbers of bytes say from where on with the column reader, and from where on also in parts."""
    report = FileReport("file")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(large_files, "large_bytes", lambda: by_column)
        patch.setattr(columns, "LARGE_BYTES", in_parts)
        content = read_people(data, items(), Limits(), report)
    return content, [(problem.code, problem.line, problem.message) for problem in report.problems()]


@given(st.lists(names, min_size=1, max_size=5))
@example(NAMED)
@example(NAMED[::-1])
@example([*NAMED, NAMED[0]])
@example([*NAMED, "x 1"])
def test_a_file_reads_as_with_the_line_walker_alone(named: list[str]) -> None:
    data = "".join(f"{name} 0.{place}\n" for place, name in enumerate(named)).encode()
    slow, slow_problems = read(data, by_column=sys.maxsize, in_parts=sys.maxsize)
    for in_parts in (0, sys.maxsize):
        quick, quick_problems = read(data, by_column=0, in_parts=in_parts)
        assert quick_problems == slow_problems
        assert (quick is None) == (slow is None)
        if quick is not None and slow is not None:
            assert quick.item.tolist() == slow.item.tolist()
            assert quick.confidence.tolist() == slow.confidence.tolist()


@given(st.lists(st.permutations(range(len(NAMED))), min_size=1, max_size=4))
def test_plain_files_are_read_in_whatever_order_they_name_people(orders: list[list[int]]) -> None:
    people = items()
    for order in orders:  # the columns of one file are remembered for the next
        data = "".join(f"{NAMED[person]} {person}\n" for person in order).encode()
        plain = read_part(data, 2, 1, people, Limits())
        assert plain.item.tolist() == plain.numbers[0].tolist() == order


def test_a_test_set_without_people_knows_none() -> None:
    assert read_part(b"000001 1 0.5\n", 2, 1, items(PERSONS[:0]), Limits()) is None
