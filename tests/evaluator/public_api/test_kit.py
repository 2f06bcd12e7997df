"""`vocboard.convert` and `vocboard.view`, on a small tree."""

import json
from pathlib import Path

import pytest

import vocboard
from tests.evaluator.conversion import kit

COCO = [{"image_id": 1, "category_id": 7, "bbox": [9, 19, 101, 121], "score": 0.5}]  # VOC's car, 10 to 110


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return kit.tree(tmp_path)


def test_convert_evaluate_and_view(tree: Path, tmp_path: Path) -> None:
    detections, archive = tmp_path / "detections.json", tmp_path / "results.tar.gz"
    detections.write_text(json.dumps(COCO))
    vocboard.convert("coco", detections, archive, edition="VOC2007", competition="comp4", image_sets=tree)
    truth = vocboard.read_ground_truth(tree, "VOC2007")
    found = vocboard.evaluate(archive, "VOC2007", truth)
    assert found["comp4"].details["car"].final_precision == 1.0
    back = tmp_path / "back.json"
    vocboard.convert("coco", archive, back, edition="VOC2007", competition="comp4", image_sets=truth, reverse=True)
    assert json.loads(back.read_text())[0]["bbox"] == COCO[0]["bbox"]

    written = vocboard.view(tree, tmp_path / "page", results=archive)
    assert written.images == len(kit.IMAGES)
    assert (tmp_path / "page" / "index.html").exists()


def test_a_ground_truth_to_coco_and_back(tree: Path, tmp_path: Path) -> None:
    vocboard.convert("coco-ground-truth", tree, tmp_path / "truth.json", edition="VOC2007", reverse=True)
    vocboard.convert("coco-ground-truth", tmp_path / "truth.json", tmp_path / "again", edition="VOC2007")
    before, after = (vocboard.read_ground_truth(each, "VOC2007") for each in (tree, tmp_path / "again"))
    assert before.sha256 == after.sha256


def test_arguments_that_cannot_be(tree: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there is no format 'voc'; there are coco, yolo"):
        vocboard.convert("voc", tree, tmp_path / "x.zip", edition="VOC2007")
    with pytest.raises(ValueError, match="coco needs competition and image_sets"):
        vocboard.convert("coco", tree, tmp_path / "x.zip", edition="VOC2007")
    with pytest.raises(ValueError, match="there is no example of 'detecting'; there are classification"):
        vocboard.example("detecting", tree, tmp_path / "x.zip")
    with pytest.raises(ValueError, match="has no folder of an edition"):
        vocboard.view(tmp_path / "VOC2007" / "Annotations", tmp_path / "page")
