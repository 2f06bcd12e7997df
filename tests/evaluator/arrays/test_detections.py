"""Detections in memory: the forms in which they may come, and what is said of wrong ones."""

from typing import Any

import numpy as np
import pytest

import vocboard
from tests.support import small_world
from tests.support.small_world import EDITION
from vocboard.evaluator.ground_truth import GroundTruth

CAR_AP, DOG_AP, MEAN_AP = map(pytest.approx, (small_world.CAR_AP, small_world.DOG_AP, small_world.MEAN_AP))
CLASSES = vocboard.load_edition(EDITION).classes
CAR, DOG = CLASSES.index("car") + 1, CLASSES.index("dog") + 1
BY_CLASS = {
    "car": {
        "images": ["000001", "000003", "000002"],
        "scores": [0.9, 0.8, 0.7],
        "boxes": [[10, 10, 50, 50], [10, 10, 50, 50], [20, 20, 60, 60]],
    },
    "dog": {"images": ["000003"], "scores": [0.5], "boxes": [[5, 5, 40, 40]]},
}


class Tensor:
    """Something that NumPy turns into an array, as PyTorch's tensors are."""

    def __init__(self, values: Any, failure: str = "") -> None:
        self._values, self._failure = values, failure

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if self._failure:
            raise RuntimeError(self._failure)
        return np.array(self._values, dtype=np.float32 if dtype is None else dtype)

    def __len__(self) -> int:
        return len(self._values)


def by_image(box_format: str = "voc", first_label: int = 1, names: bool = False) -> dict[str, dict[str, Any]]:
    """The same detections as torchmetrics takes them."""
    found: dict[str, dict[str, list[Any]]] = {}
    for name, label in (("car", CAR), ("dog", DOG)):
        own: dict[str, Any] = BY_CLASS[name]
        for image, score, box in zip(own["images"], own["scores"], own["boxes"], strict=True):
            entry = found.setdefault(image, {"boxes": [], "scores": [], "labels": []})
            entry["boxes"].append(converted(box, box_format))
            entry["scores"].append(score)
            entry["labels"].append(name if names else label - 1 + first_label)
    return found


def converted(box: list[float], box_format: str) -> list[float]:
    left, top, right, bottom = box
    width, height = right - left + 1, bottom - top + 1
    return {
        "voc": box,
        "xyxy": [left - 1, top - 1, right, bottom],
        "xywh": [left - 1, top - 1, width, height],
        "cxcywh": [left - 1 + width / 2, top - 1 + height / 2, width, height],
    }[box_format]


def codes(results: Any, truth: GroundTruth, **options: Any) -> list[str]:
    return [problem.code for problem in vocboard.validate({"comp3": results}, EDITION, truth, **options).errors]


def test_by_class(truth: GroundTruth) -> None:
    found = vocboard.evaluate({"comp3": BY_CLASS}, EDITION, truth)
    assert found["comp3"].per_class == {"car": CAR_AP, "dog": DOG_AP}
    assert found.mean == MEAN_AP
    assert set(found["comp3"].not_entered) == set(CLASSES) - {"car", "dog"}
    with pytest.raises(ValueError, match=r"\(comp3, comp4\); choose one, such as result\['comp3'\]"):
        _ = vocboard.evaluate({"comp3": BY_CLASS, "comp4": BY_CLASS}, EDITION, truth).mean


@pytest.mark.parametrize("box_format", ["voc", "xyxy", "xywh", "cxcywh"])
def test_by_image_enters_every_class(truth: GroundTruth, box_format: Any) -> None:
    found = vocboard.evaluate({"comp3": by_image(box_format)}, EDITION, truth, box_format=box_format)
    assert (found.per_class["car"], found.per_class["dog"]) == (CAR_AP, DOG_AP)
    assert found["comp3"].not_entered == ()


def test_labels_may_be_names_or_count_from_zero(truth: GroundTruth) -> None:
    expected = vocboard.evaluate({"comp3": by_image()}, EDITION, truth).to_dict()
    assert vocboard.evaluate({"comp3": by_image(names=True)}, EDITION, truth).to_dict() == expected
    from_zero = vocboard.evaluate({"comp3": by_image(first_label=0)}, EDITION, truth, first_label=0)
    assert from_zero.to_dict() == expected


def test_in_the_order_of_the_image_set(truth: GroundTruth) -> None:
    named: dict[str, Any] = by_image()
    nothing = {"boxes": np.zeros((0, 4)), "scores": [], "labels": []}
    images = truth.image_sets.sets[next(iter(truth.truths))].images
    listed = [named.get(image, nothing) for image in images]
    assert vocboard.evaluate({"comp3": listed}, EDITION, truth).per_class["car"] == CAR_AP
    (problem,) = vocboard.validate({"comp3": listed[:3]}, EDITION, truth).errors
    assert "list of 3" in problem.message
    assert "each of 4 images" in problem.message


def test_in_one_table(truth: GroundTruth) -> None:
    table: dict[str, Any] = {
        "images": [*BY_CLASS["car"]["images"], "000003"],
        "scores": [0.9, 0.8, 0.7, 0.5],
        "boxes": [*BY_CLASS["car"]["boxes"], [5, 5, 40, 40]],
        "labels": ["car", "car", "car", "dog"],
    }
    assert vocboard.evaluate({"comp3": table}, EDITION, truth).per_class["car"] == CAR_AP


def test_whatever_turns_into_an_array(truth: GroundTruth) -> None:
    tensors = {
        image: {key: Tensor(values) if key != "labels" else np.array(values) for key, values in each.items()}
        for image, each in by_image().items()
    }
    assert vocboard.evaluate({"comp3": tensors}, EDITION, truth).per_class["car"] == CAR_AP


def test_what_does_not_turn_into_an_array_is_reported(truth: GroundTruth) -> None:
    on_gpu = Tensor([0.9], "can't convert cuda:0 device type tensor to numpy")
    results = {"car": {"images": ["000001"], "scores": on_gpu, "boxes": [[1, 2, 3, 4]]}}
    (problem,) = vocboard.validate({"comp3": results}, EDITION, truth).errors
    assert problem.message == ("scores cannot be read as an array: can't convert cuda:0 device type tensor to numpy.")


def test_everything_that_is_wrong_is_reported_at_once(truth: GroundTruth) -> None:
    results = {
        "car": {
            "images": ["000001", "1", "x.jpg"],
            "scores": [0.9, np.nan, np.inf],
            "boxes": [[1, 2, 3], [1, 2, 3], [1, 2, 3]],
        },
        "dog": {"images": [1], "scores": ["high"], "boxes": np.zeros((1, 4))},
        "cat": {"scores": []},
        "unicorn": {},
        "cow": [1, 2],
    }
    with pytest.raises(vocboard.InvalidResultsError) as caught:
        vocboard.evaluate({"comp3": results, "comp99": {}}, EDITION, truth)
    said = str(caught.value)
    assert isinstance(caught.value, ValueError)
    for text in (
        "comp3['car']: scores has 2 values (the first is nan, at index 1)",
        "comp3['car']: boxes has the shape (3, 3); expected (3, 4)",
        "comp3['dog']: scores is an array of str",
        "comp3['dog']: images holds numbers; identifiers are text, leading zeros included, such as '000001'.",
        "comp3['cat']: 'images', 'boxes' are missing; it has 'scores'.",
        "comp3: 'unicorn' is not a class of comp3",
        "comp3['cow']: Found a list of 2; expected a mapping with 'images', 'scores', 'boxes'",
        "'comp99' is not a competition of VOC2007",
        "'1' is not in the detection test set",
    ):
        assert text in said


def test_one_row_more_than_another_array(truth: GroundTruth) -> None:
    results = {"car": {"images": ["000001"], "scores": [0.9, 0.8], "boxes": np.ones((1, 4))}}
    assert codes(results, truth) == ["wrong_shape"] * 2


def test_labels_that_count_from_zero_are_no_classes(truth: GroundTruth) -> None:
    results = {"000001": {"boxes": [[1, 1, 2, 2]], "scores": [0.5], "labels": [0]}}
    (problem,) = vocboard.validate({"comp3": results}, EDITION, truth).errors
    assert "1 is aeroplane, 20 is tvmonitor" in problem.message
    assert codes(results, truth, first_label=0) == []


def test_masked_rows_are_not_treated_as_numbers(truth: GroundTruth) -> None:
    scores = np.ma.array([0.5], mask=[True])
    assert codes({"car": {"images": ["000001"], "scores": scores, "boxes": [[1, 1, 2, 2]]}}, truth) == ["masked_values"]


def test_boxes_measured_from_zero_get_a_warning(truth: GroundTruth) -> None:
    results = {"comp3": {"car": {"images": ["000001"], "scores": [0.9], "boxes": [[0, 9, 50, 50]]}}}
    (problem,) = vocboard.evaluate(results, EDITION, truth).problems
    assert (problem.code, problem.severity) == ("zero_based_boxes", "warning")
    assert not vocboard.evaluate(results, EDITION, truth, box_format="xyxy").problems


def test_an_unknown_box_format(truth: GroundTruth) -> None:
    with pytest.raises(ValueError, match="expected one of 'voc', 'xyxy', 'xywh', 'cxcywh'"):
        vocboard.evaluate({"comp3": BY_CLASS}, EDITION, truth, box_format="yxyx")  # type: ignore[arg-type]


def test_without_image_sets_identifiers_are_not_checked() -> None:
    found = vocboard.validate({"comp3": BY_CLASS}, EDITION)
    assert found.is_valid
    assert not found.items_checked
    assert not vocboard.validate({"comp3": [by_image()["000001"]]}, EDITION).is_valid


class DeviceTensor(Tensor):
    """A tensor on a GPU that requires a gradient: NumPy takes it only after `detach` and `cpu`."""

    converted = 0

    def __init__(self, values: Any, left: tuple[str, ...] = ("detach", "cpu")) -> None:
        super().__init__(values, f"Call {left[0]}() first." if left else "")
        self._left = left

    def detach(self) -> "DeviceTensor":
        return DeviceTensor(self._values, tuple(each for each in self._left if each != "detach"))

    def cpu(self) -> "DeviceTensor":
        return DeviceTensor(self._values, tuple(each for each in self._left if each != "cpu"))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        DeviceTensor.converted += not self._failure
        return super().__array__(dtype, copy)


def test_tensors_are_moved_and_each_is_converted_once(truth: GroundTruth) -> None:
    tensors = {
        image: {key: DeviceTensor(values) if key != "labels" else values for key, values in each.items()}
        for image, each in by_image().items()
    }
    DeviceTensor.converted = 0
    assert vocboard.evaluate({"comp3": tensors}, EDITION, truth).per_class["car"] == CAR_AP
    assert DeviceTensor.converted == 2 * len(tensors)


def test_what_is_wrong_in_every_image_is_one_error(truth: GroundTruth) -> None:
    failing = Tensor([0.9], "Got unsupported ScalarType BFloat16")
    everywhere = {image: {**each, "scores": failing, "boxes": failing} for image, each in by_image().items()}
    (problem,) = vocboard.validate({"comp3": everywhere}, EDITION, truth).errors
    assert problem.file == "comp3['000001']"
    assert problem.message == (
        "scores cannot be read as an array: Got unsupported ScalarType BFloat16; give x.float(). "
        "The same kind of problem is in 2 further images."
    )
    one = by_image()
    one["000003"]["scores"][0] = np.nan
    (problem,) = vocboard.validate({"comp3": one}, EDITION, truth).errors
    assert problem.file == "comp3['000003']"
    assert "index 0" in problem.message


@pytest.mark.parametrize("empty", [np.zeros((0, 4)), []])
def test_images_together_are_what_they_are_one_by_one(empty: Any, truth: GroundTruth) -> None:
    """In any order of the images, with empty ones and mixed types."""
    mixed = dict(reversed(by_image().items()))
    mixed["000004"] = {"boxes": empty, "scores": [], "labels": []}
    mixed["000001"]["boxes"] = np.array(mixed["000001"]["boxes"], dtype=np.uint16)
    mixed["000001"]["labels"] = np.array(mixed["000001"]["labels"], dtype=np.uint64)
    found = vocboard.evaluate({"comp3": mixed}, EDITION, truth)
    assert (found.per_class["car"], found.per_class["dog"]) == (CAR_AP, DOG_AP)
