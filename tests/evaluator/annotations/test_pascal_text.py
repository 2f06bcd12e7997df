"""Annotations as text: PASCAL files, and lists with a line for each object."""

import pytest

from vocboard.evaluator.annotations import AnnotationError, read_lines, read_pascal_text
from vocboard.evaluator.editions import load

LABELS_2005 = load("VOC2005").annotations.labels
LABELS_2006 = load("VOC2006").annotations.labels

TEXT = """# PASCAL Annotation Version 1.00

Image filename : "VOC2006/PNGImages/003260.png"
Image size (X x Y x C) : 500 x 396 x 3
Database : "The VOC2006 Database"
Objects with ground truth : 2 { "PASmotorbikeLeft" "PAScarRearTruncDifficult" }

# Note that there might be other objects in the image
# for which ground truth data has not been provided.

# Top left pixel co-ordinates : (1, 1)

# Details for object 1 ("PASmotorbikeLeft")
Original label for object 1 "PASmotorbikeLeft" : "PASmotorbikeLeft"
Bounding box for object 1 "PASmotorbikeLeft" (Xmin, Ymin) - (Xmax, Ymax) : (25, 92) - (458, 360)

# Details for object 2 ("PAScarRearTruncDifficult")
Original label for object 2 "PAScarRearTruncDifficult" : "PAScarRearTruncDifficult"
Bounding box for object 2 "PAScarRearTruncDifficult" (Xmin, Ymin) - (Xmax, Ymax) : (196, 27) - (366, 363)
"""


def wrong(text: str) -> list[tuple[int | None, str]]:
    with pytest.raises(AnnotationError) as raised:
        read_pascal_text(text.encode(), LABELS_2006)
    return raised.value.errors


def test_classes_and_difficulty_come_out_of_labels() -> None:
    annotation = read_pascal_text(TEXT.encode(), LABELS_2006)
    assert annotation.size == (500, 396)
    assert [(item.name, item.box, item.difficult) for item in annotation.objects] == [
        ("motorbike", (25, 92, 458, 360), False),
        ("car", (196, 27, 366, 363), True),
    ]


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("PASmotorbikeSide", "motorbikes"),
        ("PASbicycle", "bicycles"),
        ("PASpersonWalking", "people"),
        ("PAScarFrontal", "cars"),
        ("PASbookshelf", "PASbookshelf"),  # of no class, but object indices count it
    ],
)
def test_labels_of_2005_stand_for_groups(label: str, name: str) -> None:
    annotation = read_pascal_text(TEXT.replace("PASmotorbikeLeft", label).encode(), LABELS_2005)
    assert annotation.objects[0].name == name


def test_of_two_beginnings_the_longer_counts() -> None:
    labels = {"PAScar": "car", "PAScart": "cart"}
    annotation = read_pascal_text(TEXT.replace("PASmotorbikeLeft", "PAScartSide").encode(), labels)
    assert [item.name for item in annotation.objects] == ["cart", "car"]


def test_coordinates_from_zero_are_made_to_count_from_one() -> None:
    annotation = read_pascal_text(TEXT.replace("co-ordinates : (1, 1)", "co-ordinates : (0, 0)").encode(), LABELS_2006)
    assert annotation.objects[0].box == (26, 93, 459, 361)


def test_line_ends_of_windows_and_a_byte_order_mark_do_not_matter() -> None:
    data = b"\xef\xbb\xbf" + TEXT.replace("\n", "\r\n").encode()
    assert read_pascal_text(data, LABELS_2006) == read_pascal_text(TEXT.encode(), LABELS_2006)


def test_an_image_without_objects_is_read() -> None:
    text = TEXT[: TEXT.index("# Details")].replace("truth : 2", "truth : 0")
    assert read_pascal_text(text.encode(), LABELS_2006).objects == ()


@pytest.mark.parametrize(
    ("found", "replaced", "line", "message"),
    [
        ("Version 1.00", "Version 2.00", 1, "does not begin with 'PASCAL Annotation Version 1.00'"),
        ("(25, 92) - (458, 360)", "(25, 92) - (458)", 15, "is not as in Bounding box for object 1"),
        ("(25, 92) - (458, 360)", "(458, 92) - (25, 360)", 15, "upside down"),
        ("box for object 2", "box for object 3", 19, "has object 3, expected object 2"),
        ("ground truth : 2", "ground truth : 3", None, "says that it has 3 objects, and has the bounding boxes of 2"),
        ("Objects with ground truth", "Objects", None, "does not say how many objects"),
    ],
)
def test_what_is_wrong_is_reported_with_its_line(found: str, replaced: str, line: int | None, message: str) -> None:
    assert found in TEXT
    [(place, error)] = wrong(TEXT.replace(found, replaced))
    assert place == line
    assert message in error


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(AnnotationError, match="not a UTF-8 text file"):
        read_pascal_text(b"\xff\xfe", LABELS_2006)


def test_poses_and_truncation_come_out_of_labels() -> None:
    objects = read_pascal_text(TEXT.replace("PASmotorbikeLeft", "PASmotorbike").encode(), LABELS_2006).objects
    assert [(item.view, item.truncated) for item in objects] == [("", False), ("Rear", True)]


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
