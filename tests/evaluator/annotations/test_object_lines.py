"""The ground truth of ParallelEye: one file, one object a line."""

import pytest

from vocboard.evaluator.annotations import AnnotationError, read_lines

IMAGES, CLASSES = ("151", "152", "153"), ("Car", "Bus", "Truck")


def test_every_image_gets_its_objects_in_order_and_those_without_a_line_none() -> None:
    annotations = read_lines(
        b"153 407 157 500 213 Bus\n\n151 89 112 516.5 466 Car\n153 2 161 55 221 Car\n", IMAGES, CLASSES
    )
    assert {image: [(item.name, item.box) for item in found.objects] for image, found in annotations.items()} == {
        "151": [("Car", (89, 112, 516.5, 466))],
        "152": [],
        "153": [("Bus", (407, 157, 500, 213)), ("Car", (2, 161, 55, 221))],
    }


def test_everything_wrong_is_reported_at_once_with_its_line() -> None:
    text = "\n".join(
        [
            "151 0.7 89 112 516 466 Car",
            "9 1 1 2 2 Car",
            "151 1 1 2 2 car",
            "151 5 1 2 2 Car",
            "151 a 1 2 2 Car",
            "151 1 1 inf 2 Car",
        ]
    )
    with pytest.raises(AnnotationError) as raised:
        read_lines(text.encode(), IMAGES, CLASSES)
    assert raised.value.errors == [
        (1, "7 fields, expected <image> <left> <top> <right> <bottom> <class>"),
        (2, "image '9' is not in the test set"),
        (3, "class 'car', expected one of Car, Bus, Truck"),
        (4, "the box is upside down: 5, 1 to 2, 2"),
        (5, "'a' in the box, expected a number"),
        (6, "'inf' in the box, expected a number"),
    ]
