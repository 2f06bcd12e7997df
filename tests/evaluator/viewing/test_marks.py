"""Marks are the evaluation's own, and add up to its counts."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.evaluator.trees import files_of_2012, write
from tests.support.golden import golden
from vocboard.evaluator.editions import load
from vocboard.evaluator.evaluation import evaluate
from vocboard.evaluator.ground_truth import DetectionTruth
from vocboard.evaluator.ground_truth.reader import read_ground_truth
from vocboard.evaluator.results import Detections
from vocboard.evaluator.viewing import view
from vocboard.evaluator.viewing.marks import Mark, mark_detections
from vocboard.evaluator.whole_output import OutputExistsError


def data_of(page: Path) -> dict[str, Any]:
    text = (page / "data.js").read_text()
    content: dict[str, Any] = json.loads(text.removeprefix("window.VOCBOARD=").rstrip(";\n"))
    return content


def test_every_kind_of_mark() -> None:
    edition = load("VOC2012")
    truth = DetectionTruth(
        image=np.array([0, 0, 1], dtype=np.int32),
        class_index=np.array([6, 11, 6], dtype=np.int16),  # car, dog, difficult car
        box=np.array([[1, 1, 10, 10], [50, 50, 60, 60], [1, 1, 10, 10]], dtype=np.float64),
        difficult=np.array([False, False, True]),
    )
    boxes = [
        (0.9, 0, [1, 1, 10, 10], Mark.CORRECT, 0),
        (0.8, 0, [1, 1, 10, 9], Mark.REPEATED, 0),
        (0.7, 0, [1, 1, 10, 3], Mark.LOCATION, 0),
        (0.6, 0, [50, 50, 60, 60], Mark.CONFUSED, 1),
        (0.5, 0, [100, 100, 110, 110], Mark.BACKGROUND, -1),
        (0.4, 1, [1, 1, 10, 10], Mark.IGNORED, 2),
        (0.3, 1, [1, 1, 10, 9], Mark.IGNORED, 2),
    ]
    detections = Detections(
        image=np.array([image for _, image, _, _, _ in boxes], dtype=np.int32),
        confidence=np.array([confidence for confidence, *_ in boxes]),
        box=np.array([box for _, _, box, _, _ in boxes], dtype=np.float64),
    )
    marked = mark_detections(detections, truth, 6, edition, edition.competitions["comp4"])
    assert marked.mark.tolist() == [mark for *_, mark, _ in boxes]
    assert marked.object.tolist() == [met for *_, met in boxes]


@pytest.mark.parametrize("name", ["voc2007-real", "voc2012-synthetic", "voc2006-real"])
def test_marks_add_up_to_the_evaluations_counts(name: str, tmp_path: Path) -> None:
    case, edition = golden(name), load(golden(name).edition)
    done = view(case.ground_truth, tmp_path / "page", edition, results=case.results)
    data = data_of(tmp_path / "page")
    scores = evaluate(case.results, edition, read_ground_truth(case.ground_truth, edition)).scores
    assert data["competitions"]
    for competition in data["competitions"]:
        of_class, marks = np.array(competition["class"]), np.array(competition["mark"])
        for index, name_of_class in enumerate(edition.classes):
            own = marks[of_class == index]
            details = scores[competition["key"]].details[name_of_class]
            correct, wrong = int(np.sum(own == Mark.CORRECT)), int(np.sum(own >= Mark.REPEATED))
            assert int(np.sum(own == Mark.IGNORED)) == details.difficult
            assert len(own) == details.results
            assert correct == round(details.final_recall * details.positives) if details.positives else correct == 0
            if correct + wrong:
                assert correct / (correct + wrong) == pytest.approx(details.final_precision, abs=1e-12)
        found = [o for o, m in zip(competition["object"], competition["mark"], strict=True) if m == Mark.CORRECT]
        assert len(set(found)) == len(found)  # each object is found once
        assert all("difficult" not in data["objects"]["flags"][o] for o in found)
        assert done.counts[competition["key"]][Mark.CORRECT] == len(found)


def test_annotations_with_flags_parts_and_actions(tmp_path: Path) -> None:
    view(write(tmp_path / "kit # 1" / "VOC2012", files_of_2012()).parent, tmp_path / "page", load("VOC2012"))
    folder = "../kit%20%23%201/VOC2012/SegmentationClass"
    data = data_of(tmp_path / "page")
    assert data["images"] == ["m1", "m2", "l1", "a1", "a2"]
    assert data["folders"] == [["Main"], ["Main", "Segmentation"], ["Layout"], ["Action"], ["Action"]]
    assert data["objects"]["flags"][:2] == [[], ["difficult"]]
    assert [part[0] for part in data["objects"]["parts"][2]] == ["head", "hand"]
    assert data["objects"]["actions"][5:] == [["walking"], ["running"]]
    assert data["truthMaps"] == {"SegmentationClass": {"folder": folder, "there": [0, 1, 0, 0, 0]}}
    assert data["competitions"] == []


def test_a_page_is_replaced_but_nothing_else_is(tmp_path: Path) -> None:
    tree = write(tmp_path / "VOC2012", files_of_2012()).parent
    view(tree, tmp_path / "page", load("VOC2012"))
    view(tree, tmp_path / "page", load("VOC2012"))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("x")
    with pytest.raises(OutputExistsError):
        view(tree, tmp_path / "mine", load("VOC2012"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["VOC2012", "mine", "page"]


def test_names_cannot_leave_the_script(tmp_path: Path) -> None:
    files = files_of_2012()
    files["Annotations/m1.xml"] = str(files["Annotations/m1.xml"]).replace(
        "<name>dog</name>", "<name>&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;</name>"
    )
    view(write(tmp_path / "VOC2012", files).parent, tmp_path / "page", load("VOC2012"))
    assert "</script>" not in (tmp_path / "page" / "data.js").read_text()
