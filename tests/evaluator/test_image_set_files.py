"""Image set files: labels read at once are those read line by line."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vocboard.evaluator.problems import Problem
from vocboard.evaluator.problems.trees import GroundTruthError, TreeProblems
from vocboard.evaluator.tasks.image_set_files import ImageSetFiles

IMAGES = {"2008_000002": 0, "2008_000003": 1, "1": 2}

lines = st.tuples(
    st.sampled_from([*IMAGES] * 4 + ["other", "-1", "../1", "é"]),
    st.sampled_from([" ", "  ", "\t"]),
    st.sampled_from(["1", "-1", "0"] * 4 + ["+1", "2", "", "1 1", "1\n1"]),
    st.sampled_from(["\n"] * 8 + ["\r\n", " \n", "", "\n\n", "\x0b"]),
).map("".join)
in_order = st.permutations(list(IMAGES)).map(lambda images: "".join(f"{image} -1\n" for image in images))


def read(content: bytes, *, by_line: bool) -> tuple[list[int], list[int], tuple[Problem, ...]]:
    collector = TreeProblems()
    with pytest.MonkeyPatch.context() as patch:
        if by_line:
            patch.setattr(ImageSetFiles, "_plain_image_labels", lambda *_: None)
        labels = ImageSetFiles({"cow_test.txt": content}, collector).image_labels("cow_test.txt", IMAGES)
    problems: tuple[Problem, ...] = ()
    try:
        collector.raise_if_any()
    except GroundTruthError as error:
        problems = error.problems
    return labels.item.tolist(), labels.label.tolist(), problems


@given(text=in_order | st.lists(lines, max_size=5).map("".join))
@example(text="\ufeff2008_000003  1\n2008_000002 0\n1 -1")
@example(text="2008_000003\n1 2008_000002 0\n1 -1")
def test_labels_are_the_same_at_once_and_line_by_line(text: str) -> None:
    assert read(text.encode(), by_line=False) == read(text.encode(), by_line=True)


def test_labels_are_in_the_order_of_the_file() -> None:
    assert read(b"2008_000003 1\n1 -1\n2008_000002 0\n", by_line=False) == ([1, 2, 0], [1, -1, 0], ())


def test_a_file_that_is_not_text_is_reported() -> None:
    items, _, problems = read(b"2008_000003 \xff\n", by_line=False)
    assert items == []
    assert [problem.code for problem in problems] == ["not_text", "missing_labels"]
