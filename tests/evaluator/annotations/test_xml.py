"""XML annotations: boxes and points, errors, and that both readers of the files agree."""

from collections.abc import Callable
from typing import TypeVar

import pytest

from tests.evaluator.trees import a_part, actions, an_object, annotation
from vocboard.evaluator.annotations import AnnotationError, read_xml
from vocboard.evaluator.annotations.records import ImageRecord, read_record
from vocboard.evaluator.annotations.xml_output import xml_of

Content = TypeVar("Content")
POINT = "<point><x>12</x><y>7</y></point>"


def test_a_point_stands_for_a_box_that_is_not_there() -> None:
    person = f"<object><name>person</name>{actions(walking=1)}{POINT}</object>"
    [found] = read_xml(annotation(person).encode()).objects
    assert found.box == (12, 7, 12, 7)
    assert found.actions == {"walking": True}


def test_a_box_goes_before_a_point() -> None:
    box = "<bndbox><xmin>1</xmin><ymin>2</ymin><xmax>3</xmax><ymax>4</ymax></bndbox>"
    [found] = read_xml(annotation(f"<object><name>person</name>{POINT}{box}</object>").encode()).objects
    assert found.box == (1, 2, 3, 4)


def test_neither_box_nor_point_is_an_error() -> None:
    with pytest.raises(AnnotationError, match="<object> has no <bndbox>"):
        read_xml(annotation("<object><name>person</name></object>").encode())


def test_the_first_of_several_elements_counts() -> None:
    box = "<bndbox><xmin>1</xmin><ymin>2</ymin><xmax>3</xmax><xmax>9</xmax><ymax>4</ymax></bndbox>"
    [found] = read_xml(annotation(f"<object><name>cow</name><name>dog</name>{box}</object>").encode()).objects
    assert (found.name, found.box) == ("cow", (1, 2, 3, 4))


def test_what_is_wrong_is_reported_with_its_line_and_the_next_file_is_read() -> None:
    with pytest.raises(AnnotationError) as error:
        read_xml(b"<annotation>\n<object>")
    assert [line for line, _ in error.value.errors] == [2]
    part = "<part><name/>\n<bndbox><xmin>1</xmin><ymin>nan</ymin><xmax/></bndbox></part>"
    with pytest.raises(AnnotationError) as error:
        read_xml(f"<annotation>\n<object><name>a</name>{part}</object></annotation>".encode())
    assert error.value.errors == [
        (2, "<object> has no <bndbox>"),
        (2, "<part> has no <name>"),
        (3, "<ymin> is 'nan', expected a number"),
        (3, "<bndbox> has no <xmax>"),
        (3, "<bndbox> has no <ymax>"),
    ]
    assert read_xml(b"<annotation/>").objects == ()


OBJECTS = {
    "box": an_object("dog", (1.5, 2, 10, 9)),
    "point": f"<object><name>person</name>{POINT}</object>",
    "box and point": an_object("person", (1, 2, 3, 4), POINT),
    "parts": an_object(more=a_part("head", (2, 2, 4, 4)) + f"<part><name>hand</name>{POINT}</part>"),
    "actions and flags": an_object(more=actions(walking=1, running=0) + "<difficult>1</difficult>"),
    "neither box nor point": "<object><name>person</name></object>",
    "part with neither": an_object(more="<part><name>head</name></part>"),
    "point without y": "<object><name>person</name><point><x>1</x></point></object>",
    "upside-down box": an_object("dog", (10, 9, 1, 2)),
    "bad flag": an_object("dog", more="<difficult>yes</difficult>"),
    "no name": an_object(""),
}


def _content_or_errors(read: Callable[[bytes], Content], content: str) -> Content | list[tuple[int | None, str]]:
    try:
        return read(content.encode())
    except AnnotationError as error:
        return error.errors


def read_both(content: str) -> ImageRecord | None:
    """Read an annotation for viewing; its numbers must be those of the scoring reader, and its errors, too."""
    scored, shown = _content_or_errors(read_xml, content), _content_or_errors(read_record, content)
    if isinstance(scored, list) or isinstance(shown, list):
        assert scored == shown
        return None
    assert shown.size == scored.size
    for one, other in zip(shown.objects, scored.objects, strict=True):
        assert (one.name, tuple(map(float, one.box))) == (other.name, other.box)
        parts = [(part.name, tuple(map(float, part.box))) for part in one.parts]
        assert parts == [(part.name, part.box) for part in other.parts]
        assert one.flags.get("difficult", False) == other.difficult
        assert one.actions == (other.actions or {})
    return shown


@pytest.mark.parametrize("name", OBJECTS)
def test_what_is_scored_and_what_is_viewed_is_the_same(name: str) -> None:
    shown = read_both(annotation(OBJECTS[name]))
    if shown is not None:
        again = xml_of("000001", shown, "VOC2012")
        assert read_both(again) == shown


@pytest.mark.parametrize("size", ["<size/>", "<size><width>0</width><height>9</height></size>", ""])
def test_sizes_are_the_same(size: str) -> None:
    read_both(annotation(size=size))


def test_a_part_can_be_a_point() -> None:
    shown = read_record(annotation(OBJECTS["parts"]).encode())
    assert [(part.name, part.box, part.point) for part in shown.objects[0].parts] == [
        ("head", ("2", "2", "4", "4"), False),
        ("hand", ("12", "7", "12", "7"), True),
    ]
