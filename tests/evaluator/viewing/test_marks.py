"""Marks are the evaluation's own, and add up to its counts."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.evaluator.test_text_trees import files_of_2005
from tests.evaluator.trees import files_of_2012, write
from tests.support.golden import golden, golden_truth
from vocboard.evaluator.conversion.painting import indexed_png
from vocboard.evaluator.diagnosis.errors import ERRORS, diagnose
from vocboard.evaluator.diagnosis.objects import diagnose_objects
from vocboard.evaluator.diagnosis.what_if import WhatIf
from vocboard.evaluator.editions import Task, load, read, read_text, source
from vocboard.evaluator.evaluation import evaluate
from vocboard.evaluator.ground_truth import DetectionTruth, GroundTruth
from vocboard.evaluator.image_sets import ImageSet, ImageSets
from vocboard.evaluator.results import Detections, Entry
from vocboard.evaluator.scores import CompetitionScores
from vocboard.evaluator.tasks.instance_segmentation import rle
from vocboard.evaluator.viewing.entries import Page
from vocboard.evaluator.viewing.marks import Mark
from vocboard.evaluator.viewing.page import VIEWS, ViewSummary, view
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
        (0.8, 0, [1, 1, 10, 9], Mark.DUPLICATE, 0),
        (0.7, 0, [1, 1, 10, 3], Mark.LOCATION, 0),
        (0.6, 0, [50, 50, 60, 60], Mark.CONFUSED, 1),
        (0.55, 0, [50, 50, 60, 53], Mark.BOTH, -1),
        (0.5, 0, [100, 100, 110, 110], Mark.BACKGROUND, -1),
        (0.45, 1, [1, 1, 10, 3], Mark.BACKGROUND, -1),  # objects that are difficult do not count
        (0.4, 1, [1, 1, 10, 10], Mark.IGNORED, 2),
        (0.3, 1, [1, 1, 10, 9], Mark.IGNORED, 2),
    ]
    detections = Detections(
        image=np.array([image for _, image, _, _, _ in boxes], dtype=np.int32),
        confidence=np.array([confidence for confidence, *_ in boxes]),
        box=np.array([box for _, _, box, _, _ in boxes], dtype=np.float64),
    )
    competition = edition.competitions["comp4"]
    image_set = ImageSet(("a", "b"))
    page = Page(
        edition=edition,
        truth=GroundTruth.of(ImageSets(edition.name, {}), {(Task.DETECTION, competition.image_set): truth}, {}),
        detected={competition.image_set: np.arange(3)},
        first={},
        boxes=truth.box,
    )
    entry = Entry(competition, ("car",), {"car": detections})
    [marked] = VIEWS[Task.DETECTION].rows(entry, image_set, page)
    assert marked.mark.tolist() == [mark for *_, mark, _ in boxes]
    assert marked.object.tolist() == [met for *_, met in boxes]
    diagnosed = diagnose(entry, truth, edition)
    assert diagnosed is not None
    counts = diagnose_objects(diagnosed, WhatIf(diagnosed, competition.rules))["errors"]["counts"]
    own = Counter(mark.title for mark in map(Mark, marked.mark.tolist()))
    assert {error: counts[error] for error in ERRORS} == {error: own[error] for error in ERRORS}


LARGE = pytest.param("voc2007-real", marks=pytest.mark.full)


@pytest.fixture(scope="module", params=[LARGE, "voc2012-synthetic", "voc2006-real", "voc2008-synthetic"])
def shown(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Mapping[str, CompetitionScores], dict[str, Any], ViewSummary]:
    """Give the scores of a golden case, and what its page has of the results."""
    case = golden(request.param)
    edition, page = load(case.edition), tmp_path_factory.mktemp("view") / "page"
    done = view(case.ground_truth, page, edition, results=case.results)
    scores = evaluate(case.results, edition, golden_truth(case.name)).scores
    return scores, data_of(page), done


def of_task(data: dict[str, Any], *tasks: str) -> list[dict[str, Any]]:
    return [competition for competition in data["competitions"] if competition["task"] in tasks]


def test_every_competition_but_those_of_label_maps_is_shown(shown: Any) -> None:
    scores, data, done = shown
    expected = [key for key, each in scores.items() if each.task != "segmentation"]
    assert [competition["key"] for competition in data["competitions"]] == expected == list(done.counts)


def test_marks_of_detections_add_up_to_the_evaluations_counts(shown: Any) -> None:
    scores, data, done = shown
    for competition in of_task(data, "detection"):
        of_class, marks = np.array(competition["class"]), np.array(competition["mark"])
        for index, name_of_class in enumerate(competition["names"]):
            own = marks[of_class == index]
            details = scores[competition["key"]].details[name_of_class]
            correct, wrong = int(np.sum(own == Mark.CORRECT)), int(np.sum(own >= Mark.DUPLICATE))
            assert int(np.sum(own == Mark.IGNORED)) == details.difficult
            assert len(own) == details.results
            assert correct == round(details.final_recall * details.positives) if details.positives else correct == 0
            if correct + wrong:
                assert correct / (correct + wrong) == pytest.approx(details.final_precision, abs=1e-12)
        found = [o for o, m in zip(competition["object"], competition["mark"], strict=True) if m == Mark.CORRECT]
        assert len(set(found)) == len(found)  # each object is found once
        assert all("difficult" not in data["objects"]["flags"][o] for o in found)
        assert done.counts[competition["key"]][Mark.CORRECT] == len(found)


def test_confidences_have_the_labels_of_the_evaluation(shown: Any) -> None:
    scores, data, _ = shown
    for competition in of_task(data, "classification", "action"):
        of_class, marks = np.array(competition["class"]), np.array(competition["mark"])
        confidences = np.array(competition["confidence"])
        for index, name in enumerate(competition["names"]):
            own, details = marks[of_class == index], scores[competition["key"]].details[name]
            assert int(np.sum(own == Mark.POSITIVE)) <= details.positives
            assert int(np.sum(own == Mark.IGNORED)) == details.difficult
            assert (np.diff(confidences[of_class == index]) <= 0).all()
        if competition["task"] == "action":
            assert "person" in {data["classes"][data["objects"]["class"][o]] for o in competition["object"]}
            assert len(competition["box"]) == 4 * len(competition["image"])
            performing = [
                competition["names"][kind] in data["objects"]["actions"][o]
                for kind, mark, o in zip(competition["class"], competition["mark"], competition["object"], strict=True)
                if mark == Mark.POSITIVE
            ]
            assert performing
            assert all(performing)


def test_parts_of_layouts_are_marked_as_the_protocol_judges_them(shown: Any) -> None:
    scores, data, _ = shown
    for competition in of_task(data, "layout"):
        of_class, marks = np.array(competition["class"]), np.array(competition["mark"])
        details = scores[competition["key"]].details
        if set(details) == {"person"}:
            assert (marks == Mark.CORRECT).any() == bool(details["person"].final_recall)
            continue
        for index, name in enumerate(competition["names"]):
            correct = int(np.sum(marks[of_class == index] == Mark.CORRECT))
            assert correct == round(details[name].final_recall * details[name].positives)
            assert int(np.sum(of_class == index)) == details[name].results


def test_regions_are_marked_and_have_their_pixels(tmp_path: Path) -> None:
    edition = read(Path(__file__).parents[3] / "docs" / "editions" / "examples" / "instances.toml")
    objects = np.zeros((6, 8), dtype=np.uint8)
    objects[1:3, 1:5] = 1
    files = {"ImageSets/Segmentation/test.txt": "a\n", "SegmentationObject/a.png": indexed_png(objects)}
    tree = write(tmp_path / "Instances", {**files, "SegmentationClass/a.png": indexed_png(objects)}).parent
    shapes = {0.9: np.s_[1:3, 1:5], 0.8: np.s_[1:3, 1:4], 0.7: np.s_[1:2, 1:3], 0.6: np.s_[4:6, :]}
    lines, masks = "", []
    for confidence, shape in shapes.items():
        masks.append(np.zeros((6, 8), dtype=np.bool_))
        masks[-1][shape] = True
        lines += f"a {confidence} {rle.encode(rle.lengths_of(masks[-1]))}\n"
    results = write(tmp_path / "results", {"comp1_inst_test_car.txt": lines})
    view(tree, tmp_path / "page", edition, results=results)
    [competition] = data_of(tmp_path / "page")["competitions"]
    assert competition["mark"] == [Mark.CORRECT, Mark.DUPLICATE, Mark.LOCATION, Mark.BACKGROUND]
    for region, mask in zip(competition["region"], masks, strict=True):
        assert (rle.mask_of(rle.decode(region), 6, 8) == mask).all()
    assert competition["box"] == [2, 2, 5, 3, 2, 2, 4, 3, 2, 2, 3, 2, 1, 5, 8, 6]


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


def test_results_on_one_of_two_test_sets_find_the_objects_of_its_images(tmp_path: Path) -> None:
    lines = {"comp5_det_test1_cars.txt": "a 0.9 1 1 10 10\n", "comp8_det_test2_cars.txt": "d 0.9 1 1 10 10\n"}
    tree, results = write(tmp_path / "VOC2005", files_of_2005()).parent, write(tmp_path / "results", lines)
    view(tree, tmp_path / "page", load("VOC2005"), results=results)
    data = data_of(tmp_path / "page")
    assert data["detectionSets"] == [["test1"], ["test1"], ["test2"], ["test2"]]
    for competition, image_set, image in zip(data["competitions"], ("test1", "test2"), "ad", strict=True):
        [found] = competition["object"]
        assert (competition["imageSet"], data["images"][data["objects"]["image"][found]]) == (image_set, image)
        assert data["classes"][data["objects"]["class"][found]] == "cars"


def test_objects_of_every_file_of_lines_are_shown(tmp_path: Path) -> None:
    head, _, last = source("ParallelEye").partition("[[competitions]]")
    one, other = ("[[competitions]]" + last.replace('"test"', f'"{name}"') for name in "ab")
    text = head.replace("_test_", "_{image_set}_") + one + other.replace('key = "detection"', 'key = "more"')
    files: dict[str, str | bytes] = {}
    for name in "ab":
        files |= {f"ImageSets/{name}.txt": f"{name}1\n", f"Annotations/{name}.txt": f"{name}1 1 1 5 5 Car\n"}
    view(write(tmp_path / "ParallelEye", files).parent, tmp_path / "page", read_text(text, "own.toml"))
    assert data_of(tmp_path / "page")["objects"]["image"] == [0, 1]


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
