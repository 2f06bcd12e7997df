"""Segmentation and instance segmentation in memory: everything that is wrong is reported at once, with its place."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import vocboard
from tests.evaluator.arrays.messages import HEIGHT, IMAGES, OF_IMAGES, WIDTH, FailingTensor, messages

INSTANCES = vocboard.load_edition(Path(__file__).parents[3] / "docs" / "editions" / "examples" / "instances.toml")
FIRST_CLASS, SECOND_CLASS = INSTANCES.classes[:2]
INSTANCE_SEGMENTATION = next(iter(INSTANCES.competitions))
IMAGES_TO_MAPS = "a mapping of images to label maps, or label maps in a sequence"


def label_map(label: int = 0, **given: Any) -> np.ndarray:
    return np.full((HEIGHT, WIDTH), label, **given)


def maps(**changed: object) -> dict[str, object]:
    return {image: label_map() for image in IMAGES} | {f"2008_{number}": value for number, value in changed.items()}


def test_valid_maps_have_no_problems() -> None:
    assert messages("comp5", maps()) == []
    assert messages("comp5", list(maps().values())) == []
    assert messages("comp5", np.zeros((3, HEIGHT, WIDTH), dtype=np.uint8)) == []


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (
            np.zeros((21, HEIGHT, WIDTH), dtype=int),
            f"the label map has the shape (21, {HEIGHT}, {WIDTH}); expected (height, width).",
        ),
        (np.zeros(20, dtype=int), "the label map has the shape (20,); expected (height, width)."),
        (label_map(dtype=np.float32), "the label map is an array of float32; expected whole numbers."),
        (label_map(np.nan), "the label map is an array of float64; expected whole numbers."),
        (label_map(dtype=bool), "the label map is an array of bool; expected whole numbers."),
        (
            np.zeros((WIDTH, HEIGHT), dtype=int),
            "The label map is 4 x 5 pixels (shape (5, 4)); the image is 5 x 4, so the shape must be (4, 5).",
        ),
        (label_map(21), "20 pixels are labelled 21; expected 0 for background and 1 to 20 for the classes."),
        (label_map(-1), "20 pixels are labelled -1; expected 0 for background and 1 to 20 for the classes."),
        (
            label_map(255),
            "20 pixels are labelled 255; expected 0 for background and 1 to 20 for the classes. "
            "Results have no void (255): give every pixel a class.",
        ),
        (
            FailingTensor(),
            "the label map cannot be read as an array: can't convert cuda:0 device type tensor to numpy.",
        ),
        (None, "the label map has the shape (); expected (height, width)."),
    ],
)
def test_a_label_map_that_is_none(value: object, expected: str) -> None:
    assert messages("comp5", maps(**{"000002": value})) == [f"comp5['2008_000002']: {expected}"]


def test_everything_that_is_wrong_with_segmentations_is_reported_at_once() -> None:
    content = {
        "2008_000001": label_map(dtype=float),
        "2008_000003.png": label_map(),
        "unknown": label_map(),
        2: label_map(),
    }
    assert messages("comp5", content) == [
        "comp5: the mapping holds numbers; identifiers are text, leading zeros included.",
        "comp5: '2008_000003.png' is a file name, expected only the identifier: '2008_000003'. "
        "Remove directories and the file extension.",
        f"comp5: 'unknown' is not in the segmentation test set {OF_IMAGES}",
        "comp5: 2 images of 3 in the image set have no label map (the first: 2008_000002, 2008_000003). "
        "Give one for each image.",
        "comp5['2008_000001']: the label map is an array of float64; expected whole numbers.",
    ]


def test_maps_in_order_are_as_many_as_images() -> None:
    assert messages("comp5", [label_map()] * 2) == [
        "comp5: 1 image of 3 in the image set has no label map (the first: 2008_000003). Give one for each image."
    ]
    assert messages("comp5", [label_map()] * 4) == [
        "comp5: Found a list of 4; expected one label map for each of 3 images."
    ]
    assert messages("comp5", "maps.zip") == [f"comp5: Found a str; expected {IMAGES_TO_MAPS}."]
    assert messages("comp5", np.array(0)) == [f"comp5: Found a ndarray; expected {IMAGES_TO_MAPS}."]
    assert messages("comp5", None) == [f"comp5: Found a NoneType; expected {IMAGES_TO_MAPS}."]


def mask(*pixels: tuple[int, int], **given: Any) -> np.ndarray:
    found = np.zeros((HEIGHT, WIDTH), **{"dtype": bool, **given})
    for pixel in pixels:
        found[pixel] = 1
    return found


def masks_told(**given: object) -> list[str]:
    """Of one class's results; those of another class are valid."""
    valid = {"images": IMAGES[:2], "scores": [0.9, 0.8], "masks": [mask((1, 1)), mask((2, 2))]}
    content = {FIRST_CLASS: valid, SECOND_CLASS: valid | given}
    place = f"{INSTANCE_SEGMENTATION}[{SECOND_CLASS!r}]: "
    found = messages(INSTANCE_SEGMENTATION, content, INSTANCES)
    assert all(message.startswith(place) for message in found), found
    return [message.removeprefix(place) for message in found]


def test_valid_masks_have_no_problems() -> None:
    assert masks_told() == []
    assert masks_told(masks=np.stack([mask((1, 1)), mask((2, 2))])) == []
    assert masks_told(masks=[mask((1, 1), dtype=np.uint8), mask((2, 2), dtype=np.int64).tolist()]) == []


@pytest.mark.parametrize(
    ("masks", "expected"),
    [
        ([mask((1, 1))], ["Found a list of 1; expected 2 masks, one for each score."]),
        (
            mask((1, 1)),
            [
                "Found a ndarray; expected 2 masks, one for each score.",
                *(f"masks[{row}] has the shape (5,); expected (height, width)." for row in range(HEIGHT)),
            ],
        ),
        ("masks.npy", ["Found a str; expected a list of masks."]),
        (None, ["Found a NoneType; expected a list of masks."]),
        ({"counts": "3", "size": [4, 5]}, ["Found a dict with the keys 'counts', 'size'; expected a list of masks."]),
        (FailingTensor(), ["masks cannot be read as an array: can't convert cuda:0 device type tensor to numpy."]),
        (
            [FailingTensor(), [[1, 0], [1]]],
            [
                "masks[0] cannot be read as an array: can't convert cuda:0 device type tensor to numpy.",
                "masks[1] cannot be read as an array: setting an array element with a sequence. The requested array "
                "has an inhomogeneous shape after 1 dimensions. The detected shape was (2,) + inhomogeneous part.",
            ],
        ),
        (
            [mask((1, 1), dtype=float), np.full((HEIGHT, WIDTH), 2)],
            [
                f"masks[{index}] is an array of {name}; expected booleans, or 0 and 1; of probabilities, those above a "
                "threshold."
                for index, name in enumerate(("float64", "int64"))
            ],
        ),
        (
            [mask((1, 1))[None], mask((1, 1)).T],
            [
                "masks[0] has the shape (1, 4, 5); expected (height, width).",
                "masks[1] is 4 x 5 pixels (shape (5, 4)); the image is 5 x 4, so the shape must be (4, 5).",
            ],
        ),
        ([mask(), mask((1, 1))], ["1 mask (the first at index 0) without a pixel."]),
    ],
)
def test_masks_that_are_none(masks: object, expected: list[str]) -> None:
    assert masks_told(masks=masks) == expected


def test_everything_that_is_wrong_with_instances_is_reported_at_once() -> None:
    nan = "results need finite numbers. Replace them by numbers, or leave these rows out."
    assert masks_told(
        images=["2008_000001", "elsewhere"], scores=[np.nan, 0.5], masks=[mask(dtype=float), mask((1, 1))]
    ) == [
        f"scores has 1 value (the first is nan, at index 0); {nan}",
        f"'elsewhere' is not in the instance segmentation test set {OF_IMAGES}",
        "masks[0] is an array of float64; expected booleans, or 0 and 1; of probabilities, those above a threshold.",
    ]
    assert masks_told(scores=0.5, masks=[mask((1, 1)), mask(dtype=float), mask().T]) == [
        "scores has the shape (); expected (n,).",
        "masks[1] is an array of float64; expected booleans, or 0 and 1; of probabilities, those above a threshold.",
    ]
    content = {"unicorn": {}, FIRST_CLASS: {"images": [], "scores": []}}
    assert messages(INSTANCE_SEGMENTATION, content, INSTANCES) == [
        f"comp1: 'unicorn' is not a class of comp1: {', '.join(INSTANCES.classes)}.",
        f"comp1[{FIRST_CLASS!r}]: 'masks' is missing; it has 'images', 'scores'.",
    ]


def test_a_class_without_a_mask_is_told() -> None:
    content = {
        FIRST_CLASS: {"images": IMAGES[:1], "scores": [0.9], "masks": [mask((1, 1))]},
        SECOND_CLASS: {"images": [], "scores": [], "masks": []},
    }
    [message] = messages(INSTANCE_SEGMENTATION, content, INSTANCES)
    assert SECOND_CLASS in message
    assert FIRST_CLASS not in message


def test_instances_by_image() -> None:
    valid = {"scores": [0.5], "labels": [1], "masks": [mask((1, 1))]}
    content = {
        "2008_000001": valid | {"labels": [len(INSTANCES.classes) + 1]},
        "2008_000002": valid | {"masks": [mask((1, 1)).T]},
        "elsewhere": valid,
    }
    first, last = INSTANCES.classes[0], INSTANCES.classes[-1]
    number = len(INSTANCES.classes)
    assert messages(INSTANCE_SEGMENTATION, content, INSTANCES) == [
        f"comp1['2008_000001']: labels has 1 label (the first is {number + 1}, at index 0) that is not a class: 1 is "
        f"{first}, {number} is {last}; first_label says where labels begin.",
        "comp1['2008_000002']: masks[0] is 4 x 5 pixels (shape (5, 4)); the image is 5 x 4, so the shape must be "
        "(4, 5).",
        f"comp1: 'elsewhere' is not in the instance segmentation test set {OF_IMAGES}",
    ]
