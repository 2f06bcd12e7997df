"""Classification and action in memory: everything that is wrong is reported at once, with its place."""

from typing import Any

import numpy as np
import pytest

import vocboard
from tests.evaluator.arrays.messages import IMAGES, OF_IMAGES, PEOPLE, FailingTensor, messages
from tests.support.small_world import EDITION
from vocboard.evaluator.ground_truth import GroundTruth

CLASSES = vocboard.load_edition("VOC2012").classes
ACTIONS = vocboard.load_edition("VOC2012").actions


def people(*scores: object) -> dict[str, Any]:
    return {
        "images": [image for image, _ in PEOPLE],
        "objects": [index for _, index in PEOPLE],
        "scores": scores or [0.1, 0.2, 0.3],
    }


def test_valid_scores_have_no_problems() -> None:
    assert messages("comp1", np.zeros((3, 20))) == []
    assert messages("comp1", {"car": [0.1, 0.2, 0.3], "dog": {"images": IMAGES, "scores": [1, 2, 3]}}) == []
    assert messages("comp9", np.zeros((3, len(ACTIONS)))) == []
    assert messages("comp9", {"running": [0.1, 0.2, 0.3], "walking": people()}) == []


@pytest.mark.parametrize(
    ("matrix", "expected"),
    [
        (np.zeros((2, 20)), "the array has the shape (2, 20); expected (3, 20)."),
        (np.zeros((20, 3)), "the array has the shape (20, 3); expected (3, 20)."),
        (np.zeros(60), "the array has the shape (60,); expected (3, 20)."),
        (0.5, "the array has the shape (); expected (3, 20)."),
        (np.zeros((3, 20), dtype=bool), "the array is an array of bool; expected numbers."),
        (np.full((3, 20), "high"), "the array is an array of str128; expected numbers."),
        (np.zeros((3, 20), dtype=complex), "the array is an array of complex128; expected numbers."),
        (np.full((3, 20), None), "the array is an array of object; expected numbers."),
        (
            [[0.5] * 20, [0.5]],
            "the array cannot be read as an array: setting an array element with a sequence. The requested array has "
            "an inhomogeneous shape after 1 dimensions. The detected shape was (2,) + inhomogeneous part.",
        ),
        (FailingTensor(), "the array cannot be read as an array: can't convert cuda:0 device type tensor to numpy."),
    ],
)
def test_a_matrix_that_is_none(matrix: object, expected: str) -> None:
    assert messages("comp1", matrix) == [f"comp1: {expected}"]


def test_values_that_are_no_scores() -> None:
    matrix = np.zeros((3, 20))
    matrix[1, 2], matrix[2, 0] = np.nan, -np.inf
    assert messages("comp1", matrix) == [
        "comp1: the array has 2 values (the first is nan, at index (1, 2)); results need finite numbers. "
        "Replace them by numbers, or leave these rows out."
    ]
    assert messages("comp9", {"running": [0.5, 1e300, -1e300]}) == [
        "comp9['running']: scores has 2 numbers beyond ±1e+30 (the first is 1e+300, at index 1). "
        "Scale them down; only the order of scores matters."
    ]
    masked = np.ma.array([0.1, 0.2, 0.3], mask=[False, True, True])
    assert messages("comp1", {"car": masked}) == [
        "comp1['car']: scores is a masked array in which 2 values are masked. "
        "Leave these rows out of all arrays, or fill them."
    ]


def test_everything_that_is_wrong_with_classification_is_reported_at_once() -> None:
    content = {
        "car": [0.1, 0.2],
        "cat": {"images": ["2008_000001", "2008_000002.jpg", "1"], "scores": [0.1, np.nan, 0.3]},
        "cow": {"images": ["2008_000001"] * 2, "scores": [0.1, 0.2]},
        "dog": {"images": [1, 2, 3], "scores": [[0.1, 0.2, 0.3]]},
        "horse": {"scores": [0.1, 0.2, 0.3]},
        "person": {"images": ["2008_000001", "2008_000003"], "scores": [0.1, 0.2]},
        "sheep": {f"2008_{number:06}": 0.5 for number in range(1, 1001)},
        "unicorn": [0.1, 0.2, 0.3],
        7: [0.1, 0.2, 0.3],
    }
    classes = ", ".join(CLASSES)
    assert sorted(messages("comp1", content)) == sorted(
        [
            f"comp1: 'unicorn' is not a class of comp1: {classes}.",
            f"comp1: 7 is not a class of comp1: {classes}.",
            "comp1['car']: scores has the shape (2,); expected (3,).",
            "comp1['cat']: scores has 1 value (the first is nan, at index 1); results need finite numbers. "
            "Replace them by numbers, or leave these rows out.",
            "comp1['cat']: '2008_000002.jpg' is a file name, expected only the identifier: '2008_000002'. "
            "Remove directories and the file extension.",
            f"comp1['cat']: '1' is not in the classification test set {OF_IMAGES}",
            "comp1['cow']: 1 image has a second score (the first is '2008_000001', at index 1). "
            "Keep one score for each.",
            "comp1['cow']: 2 images of 3 in the image set have no score (the first is '2008_000002') and rank last. "
            "Give every one a score, however low.",
            "comp1['dog']: scores has the shape (1, 3); expected (n,).",
            "comp1['dog']: images holds numbers; identifiers are text, leading zeros included, such as '2008_000001'.",
            "comp1['horse']: 'images' is missing; it has 'scores'.",
            "comp1['person']: 1 image of 3 in the image set has no score (the first is '2008_000002') and ranks last. "
            "Give every one a score, however low.",
            "comp1['sheep']: 'images', 'scores' are missing; it has '2008_000001', '2008_000002', '2008_000003', "
            "'2008_000004', '2008_000005' and 995 more.",
        ]
    )


def test_everything_that_is_wrong_with_actions_is_reported_at_once() -> None:
    content = {
        "jumping": {"images": [PEOPLE[0][0]], "scores": [0.5]},
        "phoning": people() | {"objects": [1.0, 2.0, 1.0]},
        "reading": people() | {"objects": [1, 0, -1], "scores": [0.1, "high", 0.3]},
        "riding": people(),
        "running": people(np.nan, 0.2, 0.3) | {"objects": [1, 3, 2]},
        "walking": people() | {"objects": [1, 1, 1]},
    }
    assert sorted(messages("comp9", content)) == sorted(
        [
            f"comp9: 'riding' is not an action of comp9: {', '.join(ACTIONS)}.",
            "comp9['jumping']: 'objects' is missing; it has 'images', 'scores'.",
            "comp9['phoning']: objects is an array of float64; expected whole numbers.",
            "comp9['reading']: scores is an array of str1024; expected numbers.",
            "comp9['reading']: objects has 2 indices below 1 (the first is 0, at index 1); objects count from 1. "
            "Take them from the image set.",
            "comp9['running']: scores has 1 value (the first is nan, at index 0); results need finite numbers. "
            "Replace them by numbers, or leave these rows out.",
            "comp9['running']: 2 people are (the first is object 3 of image '2008_000001', at index 1) not in the "
            "image set. Take image and object index from the image set.",
            "comp9['walking']: 1 person has a second score (the first is object 1 of '2008_000001', at index 1). "
            "Keep one score for each.",
            "comp9['walking']: 1 person of 3 in the image set has no score (the first is object 2 of '2008_000001') "
            "and ranks last. Give every one a score, however low.",
        ]
    )


def test_without_image_sets_scores_must_name_their_images() -> None:
    checked = vocboard.validate({"comp1": np.zeros((3, 20)), "comp9": {"running": [0.5]}}, "VOC2012")
    assert [problem.file for problem in checked.errors] == ["comp1", "comp9['running']"]
    assert {problem.code for problem in checked.errors} == {"image_set_needed"}


def test_evaluate_raises_all_errors(truth: GroundTruth) -> None:
    with pytest.raises(vocboard.InvalidResultsError) as caught:
        vocboard.evaluate({"comp1": {"car": [0.1], "unicorn": []}, "comp3": {}}, EDITION, truth)
    assert [problem.file for problem in caught.value.problems] == ["comp1", "comp1['car']", "comp3"]
