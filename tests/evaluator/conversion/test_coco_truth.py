"""Ground truth trees to COCO's JSON and back, and the average precision that COCO's own tool takes from it."""

import json
import tarfile
from pathlib import Path

import numpy as np
import pytest

from tests.evaluator.trees import a_part, actions, an_object, annotation, write
from tests.support.golden import golden, golden_truth
from tests.support.seeds import seeds
from vocboard.evaluator.annotations.records import read_record
from vocboard.evaluator.conversion import (
    ConversionError,
    coco_to_tree,
    read_category_names,
    read_image_names,
    to_results,
    tree_to_coco,
)
from vocboard.evaluator.conversion.boxes import ConvertedDetection
from vocboard.evaluator.conversion.decimals import decimal
from vocboard.evaluator.conversion.detection_output import write_detections
from vocboard.evaluator.editions import Edition, for_image_set, load
from vocboard.evaluator.evaluation import evaluate
from vocboard.evaluator.ground_truth.reader import read_ground_truth
from vocboard.evaluator.public_tree import read_image_sets


@pytest.mark.parametrize("name", [pytest.param("voc2007-real", marks=pytest.mark.long), "voc2012-synthetic"])
def test_a_tree_comes_back_as_it_was(name: str, tmp_path: Path) -> None:
    case = golden(name)
    edition = load(case.edition)
    count = tree_to_coco(case.ground_truth, tmp_path / "truth.json", edition).objects
    document = json.loads((tmp_path / "truth.json").read_text())
    assert len(document["annotations"]) == count
    assert [category["name"] for category in document["categories"]] == list(edition.classes)
    assert coco_to_tree(tmp_path / "truth.json", tmp_path / "tree", edition).objects == count
    with tarfile.open(case.ground_truth) as archive:
        for member in archive:
            made = tmp_path / "tree" / member.name
            content = archive.extractfile(member) if member.isfile() else None
            if content is not None and made.suffix == ".xml" and made.exists():
                before, after = read_record(content.read()), read_record(made.read_bytes())
                assert after.size == before.size
                kept = [each for each in before.objects if each.name in edition.classes]
                numbers = [[float(side) for side in each.box] for each in kept]
                assert [[float(side) for side in each.box] for each in after.objects] == numbers
                assert [(o.name, o.view, dict(o.actions)) for o in after.objects] == [
                    (o.name, o.view, dict(o.actions)) for o in kept
                ]
                assert [o.flags.get("difficult", False) for o in after.objects] == [
                    o.flags.get("difficult", False) for o in kept
                ]
    truth = golden_truth(name)
    key = next(key for key in truth.truths if key[0] == "detection")
    before, after = truth.truths[key], read_ground_truth(tmp_path / "tree", edition).truths[key]
    assert (before.box == after.box).all()
    assert (before.difficult == after.difficult).all()
    assert (before.class_index == after.class_index).all()


def test_views_flags_parts_and_actions_are_kept(tmp_path: Path) -> None:
    edition = for_image_set(load("VOC2012"), "val")
    more = "<pose>Frontal</pose><truncated>1</truncated><occluded>0</occluded><difficult>1</difficult>"
    person = an_object(
        "person",
        (1.5, 2, 10, 9),
        more
        + a_part("head", (2, 2, 4.25, 4))
        + "<part><name>hand</name><point><x>3</x><y>4</y></point></part>"
        + actions(running=1, walking=0),
    )
    write(
        tmp_path / "VOC2012",
        {"ImageSets/Main/val.txt": "2008_000001\n", "Annotations/2008_000001.xml": annotation(person)},
    )
    tree_to_coco(tmp_path, tmp_path / "truth.json", edition)
    [row] = json.loads((tmp_path / "truth.json").read_text())["annotations"]
    assert (row["image_id"], row["category_id"], row["bbox"], row["iscrowd"]) == (2008000001, 15, [0.5, 1, 9.5, 8], 1)
    coco_to_tree(tmp_path / "truth.json", tmp_path / "back", edition)
    back = read_record((tmp_path / "back/VOC2012/Annotations/2008_000001.xml").read_bytes())
    assert back == read_record((tmp_path / "VOC2012/Annotations/2008_000001.xml").read_bytes())


@pytest.mark.parametrize("files", [{}, {"ImageSets/Segmentation/val.txt": "2008_000001\n"}])
def test_a_tree_without_annotations_is_an_error_that_says_so(files: dict[str, str | bytes], tmp_path: Path) -> None:
    edition = for_image_set(load("VOC2012"), "val")
    write(tmp_path / "VOC2012", files or {"ImageSets/Main/val.txt": "2008_000001\n"})
    with pytest.raises(ConversionError, match="There is nothing to convert"):
        tree_to_coco(tmp_path, tmp_path / "truth.json", edition)
    assert not (tmp_path / "truth.json").exists()


def _scene(random: np.random.Generator) -> list[tuple[int, int, int, int]]:
    """Boxes that do not meet: no detection overlaps two of them enough, where COCO's matching differs from VOC's."""
    corners = [(1 + 100 * column, 1 + 100 * row) for column in range(3) for row in range(3) if random.random() < 0.5]
    sides = random.integers(20, 90, (len(corners), 2)).tolist()
    return [(left, top, left + side[0], top + side[1]) for (left, top), side in zip(corners, sides, strict=True)]


def _files(
    random: np.random.Generator, edition: Edition, images: list[str]
) -> tuple[dict[str, str | bytes], list[ConvertedDetection]]:
    files: dict[str, str | bytes] = {"ImageSets/Main/test.txt": "".join(f"{image}\n" for image in images)}
    found = []
    size = "<size><width>320</width><height>320</height><depth>3</depth></size>"
    for image in images:
        objects = []
        for box in _scene(random):
            label = str(random.choice(edition.classes[:3]))
            objects.append(an_object(label, box))
            for _ in range(int(random.integers(0, 4))):
                moved = np.array(box) + random.normal(0, 6, 4)
                numbers = [decimal(repr(round(float(side), 3))) for side in moved]
                if numbers[2] > numbers[0] and numbers[3] > numbers[1]:
                    guess = label if random.random() < 0.8 else edition.classes[0]
                    score = decimal(repr(round(float(random.random()), 2)))  # with ties
                    found.append(
                        ConvertedDetection(image, guess, score, (numbers[0], numbers[1], numbers[2], numbers[3]))
                    )
        files[f"Annotations/{image}.xml"] = annotation(*objects, size=size)
    return files, found


@pytest.mark.parametrize("seed", seeds(5))
def test_average_precision_is_pycocotools_where_the_rules_agree(seed: int, tmp_path: Path) -> None:
    """At an overlap of a half, over eleven recalls, without difficult objects and without objects that meet."""
    coco = pytest.importorskip("pycocotools.coco", reason="pycocotools is a peer of the benchmarks, installed apart")
    cocoeval = pytest.importorskip("pycocotools.cocoeval")
    random, edition = np.random.default_rng(seed), load("VOC2007")
    images = [f"{number:06}" for number in range(1, 41)]
    files, found = _files(random, edition, images)
    write(tmp_path / "VOC2007", files)
    sets = read_image_sets(tmp_path, edition)
    tree_to_coco(tmp_path, tmp_path / "truth.json", edition)
    write_detections("coco", found, tmp_path / "r.json", classes=edition.classes, images=images, sizes=None)
    to_results(
        "coco", tmp_path / "r.json", tmp_path / "r.tar.gz", edition=edition, competition="comp4", image_sets=sets
    )
    ours = evaluate(tmp_path / "r.tar.gz", edition, read_ground_truth(tmp_path, edition)).as_json()
    truth = coco.COCO(str(tmp_path / "truth.json"))
    theirs = cocoeval.COCOeval(truth, truth.loadRes(str(tmp_path / "r.json")), "bbox")
    theirs.params.iouThrs, theirs.params.recThrs = np.array([0.5]), np.arange(11) * 0.1
    theirs.params.maxDets = [10_000]
    theirs.params.areaRng, theirs.params.areaRngLbl = [[0, 1e10]], ["all"]
    theirs.evaluate()
    theirs.accumulate()
    precision = theirs.eval["precision"][0, :, :, 0, 0]
    assert len(found) > 200
    per_class = ours["competitions"]["comp4"]["per_class"]
    for index, name in enumerate(edition.classes[:3]):
        assert per_class[name] == pytest.approx(precision[:, index].mean(), abs=1e-12)
        assert 0.1 < per_class[name] < 1


def test_ids_names_and_areas_come_back_or_are_warned_of(tmp_path: Path) -> None:
    edition = load("VOC2007")
    polygon = [[10, 10, 30, 10, 30, 25]]
    truth = {
        "images": [
            {"id": 397133, "file_name": "val/street.png", "width": 100.0, "height": 80.0},
            {"id": "x2", "file_name": "000002.jpg", "width": 100, "height": 80},
        ],
        "annotations": [
            {"id": 5, "image_id": "x2", "category_id": 18, "bbox": [1, 2, 3.5, 4], "area": 14, "iscrowd": 0},
            {"id": 9, "image_id": 397133, "category_id": 5, "bbox": [10, 10, 20, 15], "area": 150.5, "iscrowd": 0,
             "segmentation": polygon},
        ],
        "categories": [{"id": 18, "name": "dog"}, {"id": 5, "name": "airplane"}, {"id": 7, "name": "kite"}],
    }  # fmt: skip
    source = tmp_path / "truth.json"
    source.write_text(json.dumps(truth))
    done = coco_to_tree(source, tmp_path / "tree", edition)
    changed = {each.code: each.message for each in done.problems if each.code.startswith("changed_")}
    assert changed.keys() == {
        f"changed_{of}" for of in ("image_ids", "file_names", "category_ids", "annotation_ids", "areas")
    }
    assert "val/street.png" in changed["changed_file_names"]
    assert "5 airplane" in changed["changed_category_ids"]
    assert "--images FILE" in changed["changed_image_ids"]
    lists = {"listed_images": read_image_names(source), "listed_categories": read_category_names(source, 1)}
    back = tree_to_coco(tmp_path / "tree", tmp_path / "back.json", edition, **lists)
    assert not back.problems
    again = json.loads((tmp_path / "back.json").read_text())
    assert again["categories"] == truth["categories"]
    assert [{key: row[key] for key in ("id", "file_name", "width", "height")} for row in again["images"]] == truth[
        "images"
    ]
    assert [(row["image_id"], row["category_id"], row["bbox"]) for row in again["annotations"]] == [
        (397133, 5, [10, 10, 20, 15]),
        ("x2", 18, [1, 2, 3.5, 4]),
    ]
    # What vocboard wrote comes back without a change.
    tree_to_coco(tmp_path / "tree", tmp_path / "own.json", edition)
    own = coco_to_tree(tmp_path / "own.json", tmp_path / "second", edition)
    assert not [each.code for each in own.problems if each.code.startswith("changed_")]
    with pytest.raises(ConversionError, match="--categories does not list"):
        tree_to_coco(tmp_path / "tree", tmp_path / "no.json", edition, listed_categories={1: "dog"})
