"""XML annotations: people who are given by a point."""

import pytest

from tests.evaluator.trees import actions, annotation
from vocboard.evaluator.annotations import AnnotationError, read_xml

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
