"""XML annotations: people who are given by a point."""

import pytest

from evaluator.annotations import AnnotationError, read_xml
from tests.evaluator.trees import actions, annotation

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
