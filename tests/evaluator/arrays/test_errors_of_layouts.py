"""Person layout in memory: everything that is wrong is reported at once, with its place."""

from typing import Any

import numpy as np
import pytest

from tests.evaluator.arrays.messages import OF_IMAGES, FailingTensor, messages

LAYOUT: dict[str, Any] = {
    "image": "2008_000001",
    "object": 1,
    "score": 0.5,
    "labels": ["head", "hand"],
    "boxes": [[1, 1, 2, 2], [2, 2, 3, 3]],
}
BY_BOX = {key: value for key, value in LAYOUT.items() if key != "object"} | {"person_box": [1, 1, 4, 4]}
NOT_FINITE = "results need finite numbers. Replace them by numbers, or leave these rows out."
BELOW_1 = "objects count from 1. Take them from the image set."
PARTS = "parts are head, hand, foot."


def test_valid_layouts_have_no_problems() -> None:
    assert messages("comp7", [LAYOUT]) == []
    assert messages("comp7", [LAYOUT | {"labels": [], "boxes": [], "score": np.float32(1), "object": np.int8(2)}]) == []
    assert messages("comp7", [BY_BOX], "VOC2007") == []


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("image", 1, "image holds numbers; identifiers are text, leading zeros included, such as '2008_000001'."),
        ("image", "elsewhere", f"'elsewhere' is not in the layout test set {OF_IMAGES}"),
        ("image", None, "image is an array of objects such as NoneType; expected texts."),
        ("object", 0, f"object has 1 index below 1 (the first is 0, at index 0); {BELOW_1}"),
        ("object", 1.5, "object is an array of float64; expected whole numbers."),
        ("object", [1], "object has the shape (1,); expected ()."),
        ("score", np.nan, f"score has 1 value (the first is nan, at index 0); {NOT_FINITE}"),
        ("score", "high", "score is an array of str128; expected numbers."),
        ("score", None, "score is an array of object; expected numbers."),
        ("score", [0.5], "score has the shape (1,); expected ()."),
        (
            "score",
            FailingTensor(),
            "score cannot be read as an array: can't convert cuda:0 device type tensor to numpy.",
        ),
        ("labels", ["head"], "labels has the shape (1,); expected (2,)."),
        ("labels", [0, 1], "labels is an array of int64; expected texts."),
        ("labels", ["head", None], "labels is an array of objects such as NoneType; expected texts."),
        (
            "labels",
            ["head", "elbow"],
            f"labels has 1 label (the first is 'elbow', at index 1) that is not a class: {PARTS}",
        ),
        ("boxes", [[1, 1, 2]] * 2, "boxes has the shape (2, 3); expected (n, 4)."),
        (
            "boxes",
            [[1, 1, 2, np.inf], [1, 1, 2, 2]],
            f"boxes has 1 value (the first is inf, at index (0, 3)); {NOT_FINITE}",
        ),
    ],
)
def test_a_layout_that_is_none(key: str, value: object, expected: str) -> None:
    wrong = LAYOUT | {"object": 2} | {key: value}
    assert messages("comp7", [LAYOUT, wrong]) == [f"comp7[1]: {expected}"]


def test_everything_that_is_wrong_with_layouts_is_reported_at_once() -> None:
    everything = {"image": "elsewhere", "object": -1, "score": "high", "labels": ["elbow"], "boxes": [[np.nan] * 4]}
    content = [everything, {"image": "2008_000001"}, "2008_000001", LAYOUT | {"image": "2008_000001.jpg"}]
    assert messages("comp7", content) == [
        f"comp7[0]: 'elsewhere' is not in the layout test set {OF_IMAGES}",
        "comp7[0]: score is an array of str128; expected numbers.",
        f"comp7[0]: boxes has 4 values (the first is nan, at index (0, 0)); {NOT_FINITE}",
        f"comp7[0]: labels has 1 label (the first is 'elbow', at index 0) that is not a class: {PARTS}",
        f"comp7[0]: object has 1 index below 1 (the first is -1, at index 0); {BELOW_1}",
        "comp7[1]: 'object', 'score', 'labels', 'boxes' are missing; it has 'image'.",
        "comp7[2]: Found a str; expected a mapping with 'image', 'object', 'score', 'labels' and 'boxes'.",
        "comp7[3]: '2008_000001.jpg' is a file name, expected only the identifier: '2008_000001'. "
        "Remove directories and the file extension.",
    ]


def test_something_else_than_a_list() -> None:
    keys = "'image', 'object', 'score', 'labels', 'boxes'"
    assert messages("comp7", LAYOUT) == [f"comp7: Found a dict with the keys {keys}; expected a list of layouts."]
    assert messages("comp7", None) == ["comp7: Found a NoneType; expected a list of layouts."]
    assert messages("comp7", "layouts.xml") == ["comp7: Found a str; expected a list of layouts."]


def test_people_by_box() -> None:
    wrong = [LAYOUT, BY_BOX | {"person_box": [1, 1, 4]}, BY_BOX | {"person_box": None}]
    assert messages("comp7", wrong, "VOC2007") == [
        "comp7[0]: 'person_box' is missing; it has 'image', 'object', 'score', 'labels', 'boxes'.",
        "comp7[1]: person_box has the shape (3,); expected (4,).",
        "comp7[2]: person_box has the shape (); expected (4,).",
    ]
