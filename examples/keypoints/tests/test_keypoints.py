"""The task against its checks, and its scores against those of pycocotools."""

import contextlib
import io
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

import vocboard
from vocboard.testing import check_task
from vocboard_keypoints.coco import write_results, write_tree
from vocboard_keypoints.definition import POINTS

PERSON, FILE = {"id": 1, "name": "person"}, "Keypoints/comp1_kpt_test_{class}.txt"


def generated(seed: int, images: int = 12) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return people, some a crowd or without keypoints, and results near and far from them, in COCO's JSON."""
    random = np.random.default_rng(seed)
    annotations, results = [], []
    for image in range(1, images + 1):
        for _ in range(random.integers(0, 6)):
            box = np.round(random.uniform(10, 200, 4), 2)
            visible = random.integers(0, 3, POINTS) * (random.random() > 0.15)
            points = np.round(box[:2] + random.random((POINTS, 2)) * box[2:], 1)
            keypoints = np.column_stack([np.where(visible[:, None] > 0, points, 0), visible]).ravel().tolist()
            annotation = {"id": len(annotations) + 1, "image_id": image, "category_id": 1, "keypoints": keypoints}
            annotation |= {"bbox": box.tolist(), "area": float(np.round(box[2] * box[3] * 0.6, 2))}
            annotation |= {"iscrowd": int(random.random() < 0.1), "num_keypoints": int((visible > 0).sum())}
            annotations.append(annotation)
            for noise in random.choice([1.0, 4.0, 12.0, 40.0], random.integers(0, 4)):
                moved = points + random.normal(0, noise, points.shape)
                found = np.column_stack([moved, np.ones(POINTS)]).ravel().tolist()
                # Of two decimals, so that some confidences are equal.
                score = round(float(random.random()), 2 if seed % 2 else 9)
                results.append({"image_id": image, "category_id": 1, "keypoints": found, "score": score})
        for _ in range(22 if image == 1 else 0):  # more than count
            found = np.column_stack([random.uniform(0, 300, (POINTS, 2)), np.ones(POINTS)]).ravel().tolist()
            results.append({"image_id": image, "category_id": 1, "keypoints": found, "score": float(random.random())})
    listed = [{"id": image, "width": 500, "height": 500} for image in range(1, images + 1)]
    return {"images": listed, "annotations": annotations, "categories": [PERSON]}, results


def reference(annotations: dict[str, Any], results: list[dict[str, Any]]) -> tuple[float, float, float]:
    """Return COCO's average precision, and that at similarities of 0.5 and 0.75."""
    with contextlib.redirect_stdout(io.StringIO()):
        truth = COCO()
        truth.dataset = annotations
        truth.createIndex()
        found = COCOeval(truth, truth.loadRes(results), "keypoints")
        found.evaluate()
        found.accumulate()
        found.summarize()
    return float(found.stats[0]), float(found.stats[1]), float(found.stats[2])


def scores(directory: Path) -> tuple[float, ...]:
    """Return the three scores of the results of a directory on its tree."""
    truth = vocboard.read_ground_truth(directory / "tree", "COCO-Keypoints")
    [result] = vocboard.evaluate(directory / "results", "COCO-Keypoints", truth).values()
    return result.mean, *(measure.mean for measure in result.secondary.values())


@pytest.mark.parametrize("seed", range(20))
def test_scores_are_those_of_pycocotools(seed: int, tmp_path: Path) -> None:
    annotations, results = generated(seed)
    write_tree(annotations, tmp_path / "tree")
    write_results(results, annotations, tmp_path / "results", FILE)
    found = scores(tmp_path)
    assert found == reference(annotations, results)
    assert 0.05 < found[0] < 0.95


def test_keeps_what_vocboard_expects_of_a_task(tmp_path: Path) -> None:
    annotations, results = generated(0)
    write_tree(annotations, tmp_path / "tree")
    write_results(results, annotations, tmp_path / "results", FILE)
    check_task("keypoints", vocboard.load_edition("COCO-Keypoints"), tmp_path / "tree", tmp_path / "results")


def test_without_people_it_is_undefined(tmp_path: Path) -> None:
    annotations, results = generated(2)
    annotations["annotations"] = []
    write_tree(annotations, tmp_path / "tree")
    write_results(results, annotations, tmp_path / "results", FILE)
    assert all(map(math.isnan, scores(tmp_path)))
