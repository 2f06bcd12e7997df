"""The forms in which libraries return the detections of one image."""

import json
from decimal import Decimal
from typing import Any

import pytest

from vocboard.evaluator.conversion.json_input import parse_json
from vocboard.evaluator.conversion.predictions import rows_of_image
from vocboard.evaluator.conversion.problems import ProblemCollector

BOX, OTHER = [1, 2, 3.5, 4], [5, 6, 7, 8]
FORMS: dict[str, Any] = {
    "torchvision": {"boxes": [BOX, OTHER], "labels": [0, 2], "scores": [0.9, 0.5]},
    "MMDetection": {"bboxes": [BOX, OTHER], "labels": [0, 2], "scores": [0.9, 0.5]},
    "MMDetection, in predictions": {"predictions": {"bboxes": [BOX, OTHER], "labels": [0, 2], "scores": [0.9, 0.5]}},
    "MMDetection, by class": [[[*BOX, 0.9]], [], [[*OTHER, 0.5]]],
    "a pipeline of Hugging Face": [
        {"score": 0.9, "label": 0, "box": dict(zip(("xmin", "ymin", "xmax", "ymax"), BOX, strict=True))},
        {"score": 0.5, "label": 2, "box": dict(zip(("xmin", "ymin", "xmax", "ymax"), OTHER, strict=True))},
    ],
    "Ultralytics": [
        {"confidence": 0.9, "class": 0, "box": dict(zip(("x1", "y1", "x2", "y2"), BOX, strict=True))},
        {"confidence": 0.5, "class": 2, "box": dict(zip(("x1", "y1", "x2", "y2"), OTHER, strict=True))},
    ],
}


def read(content: Any) -> tuple[list[tuple[Any, ...]], list[str]]:
    problems = ProblemCollector()
    document = parse_json(json.dumps(content).encode(), "found.json")
    rows = list(rows_of_image("000001", document, "found.json", problems))
    assert all(row.image == "000001" for row in rows)
    found = [(row.category, row.confidence, tuple(row.box), row.place) for row in rows]
    return found, [problem.code for problem in problems.problems()]


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_detections(form: str) -> None:
    first, second = (tuple(Decimal(str(number)) for number in box) for box in (BOX, OTHER))
    assert read(FORMS[form]) == (
        [(0, Decimal("0.9"), first, 1), (2, Decimal("0.5"), second, 2)],
        [],
    )


@pytest.mark.parametrize("item", [BOX, [*BOX, 0.9, 1], [*BOX, "high"], [1, 2, 3, None, 0.9], 7])
def test_by_class_what_is_not_five_numbers_is_reported_and_the_rest_is_read(item: Any) -> None:
    found, codes = read([[item, [*BOX, 0.9]]])
    assert [place for *_, place in found] == [2]
    assert codes == ["bad_detection"]


@pytest.mark.parametrize(
    "content", [{"boxes": [BOX], "labels": [], "scores": [0.9]}, "boxes", [[], {}], {"boxes": BOX}]
)
def test_an_image_in_no_form_is_reported(content: Any) -> None:
    assert read(content) == ([], ["bad_image"])
