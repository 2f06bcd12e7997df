"""Detections in memory that are valid, but look wrong: another format of boxes, missing images, duplicates."""

import warnings
from typing import Any

import numpy as np
import pytest

import vocboard
from tests.support import small_world
from vocboard.evaluator.ground_truth import GroundTruth
from vocboard.evaluator.image_sets import ImageSet, ImageSets
from vocboard.evaluator.names import Task

WIDTH, HEIGHT = 500, 375
IMAGES = tuple(f"{number:06}" for number in range(1, 101))
SETS = ImageSets("VOC2007", {(Task.DETECTION, "test"): ImageSet(IMAGES, np.full((len(IMAGES), 2), (WIDTH, HEIGHT)))})


def by_image(box_format: str) -> dict[str, dict[str, Any]]:
    """Detections that lie in their images, with boxes in one of several formats."""
    random = np.random.default_rng(0)
    found = {}
    for image in IMAGES:
        size = random.uniform(20, (0.3 * WIDTH, 0.3 * HEIGHT), (10, 2))
        start = random.uniform(0, (WIDTH, HEIGHT) - size)
        end = start + size
        first, second = {
            "voc": (start + 1, end),
            "xywh": (start, size),
            "cxcywh": ((start + end) / 2, size),
        }.get(box_format, (start, end))
        boxes = np.concatenate([first, second], axis=1)
        if box_format == "fractions":
            boxes /= (WIDTH, HEIGHT) * 2
        found[image] = {"boxes": boxes, "scores": random.uniform(size=10), "labels": random.integers(1, 21, 10)}
    return found


def table(rows: dict[str, dict[str, Any]]) -> dict[str, Any]:
    columns = {key: np.concatenate([row[key] for row in rows.values()]) for key in ("boxes", "scores", "labels")}
    return {"images": np.repeat(list(rows), [len(row["scores"]) for row in rows.values()]), **columns}


def warned(results: Any, **options: Any) -> list[str]:
    report = vocboard.validate({"comp3": results}, "VOC2007", SETS, **options)
    assert report.is_valid
    return [f"{problem.code}: {problem.message}" for problem in report.warnings]


FORMATS = ("xyxy", "xywh", "cxcywh")


@pytest.mark.parametrize("stated", ["voc", *FORMATS])
@pytest.mark.parametrize("real", ["fractions", "voc", *FORMATS])
def test_boxes_of_another_format_are_told_from_the_stated_one(real: str, stated: Any) -> None:
    for results in (by_image(real), table(by_image(real))):
        found = warned(results, box_format=stated)
        if real == "fractions":
            (message,) = found
            assert message.startswith("boxes_as_fractions: 1,000 of 1,000 boxes")
            assert "upside" not in message
        elif {real, stated} <= {"voc", "xyxy"} or real == stated:
            assert found == []
        else:
            (message,) = found
            assert message.startswith("box_format_unlikely: 1,000 of 1,000 boxes")
            assert f"box_format='{'xyxy' if real == 'voc' else real}'" in message


def test_boxes_by_image_need_a_format() -> None:
    """They are those of torchvision, which are measured from 0; the default is VOC's."""
    rows = by_image("xyxy")
    for results in (rows, list(rows.values())):
        (message,) = warned(results)
        assert message.startswith("box_format_not_given: Boxes by image are read as VOC's")
    assert warned(table(rows)) == []


def test_negative_sizes_get_the_advice_for_their_format() -> None:
    rows = by_image("xywh")
    rows[IMAGES[0]]["boxes"][0, 2] *= -1
    (message,) = warned(rows, box_format="xywh")
    assert message.startswith("box_upside_down: 1 of 1,000 boxes (the first in image '000001') with negative width")
    assert "'xywh'" not in message


@pytest.mark.parametrize("box_format", FORMATS)
def test_boxes_narrower_than_a_pixel_are_not_upside_down(box_format: Any) -> None:
    rows = by_image(box_format)
    boxes = rows[IMAGES[0]]["boxes"]
    boxes[0, 2] = boxes[0, 0] + 0.5 if box_format == "xyxy" else 0.5
    assert warned(rows, box_format=box_format) == []


def test_missing_images_and_repeated_detections() -> None:
    rows = by_image("xyxy")
    for results in (dict(list(rows.items())[:80]), table(dict(list(rows.items())[:80]))):
        (message,) = warned(results, box_format="xyxy")
        assert message.startswith("images_without_detections: 20 of 100 images have no detection of any class")
    empty = {image: {key: value[:0] for key, value in rows[image].items()} for image in IMAGES[80:]}
    assert warned(rows | empty, box_format="xyxy") == []  # they are named, so nothing was found in them
    twice = {image: {key: np.concatenate([each, each]) for key, each in row.items()} for image, row in rows.items()}
    (message,) = warned(twice, box_format="xyxy")
    assert message.startswith("repeated_detections: 1,000 of 2,000 detections are there before")


def test_evaluate_warns_where_it_is_called(truth: GroundTruth) -> None:
    results = {"car": {"images": ["000001"], "scores": [0.9], "boxes": [[50, 50, 10, 10]]}}
    with pytest.warns(vocboard.ResultsWarning, match="1 of 1 box .* with right < left") as caught:
        vocboard.evaluate({"comp3": results}, small_world.EDITION, truth)
    assert caught[0].filename == __file__
    results["car"]["boxes"] = [[10, 10, 50, 50]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        vocboard.evaluate({"comp3": results}, small_world.EDITION, truth)
