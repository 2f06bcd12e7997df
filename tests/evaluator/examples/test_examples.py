"""Each task's example on real annotations, with pictures made for them: valid, complete, and better than chance."""

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.evaluator.examples.pictured import pictured_tree
from tests.support.golden import golden
from tests.support.run_files import made_once
from vocboard.evaluator.conversion.painting import indexed_png
from vocboard.evaluator.editions import Edition, Task, for_image_set, load, read_text
from vocboard.evaluator.evaluation import evaluate
from vocboard.evaluator.examples.material import ExampleError
from vocboard.evaluator.examples.run import example
from vocboard.evaluator.ground_truth import GroundTruth, LabelTruth
from vocboard.evaluator.ground_truth.reader import read_ground_truth
from vocboard.evaluator.metrics.confusion_matrix import VOID
from vocboard.evaluator.reading.results import read_results
from vocboard.evaluator.scores import CompetitionScores
from vocboard.evaluator.scoring import score

INSTANCES = Path(__file__).parents[3] / "docs" / "editions" / "examples" / "instances.toml"
# Of each image set: half to learn from, half to be run on. Fewer of VOC2012 do not teach to find regions of objects.
IMAGES = {"voc2007-real": 40, "voc2012-real": 80}


def pictured(name: str) -> Path:
    """Return a golden tree with pictures; tests read it."""
    case = golden(name)
    archive, edition = case.ground_truth, load(case.edition)
    return made_once(f"{name}.pictured", lambda directory: pictured_tree(archive, edition, directory, IMAGES[name]))


@pytest.fixture(scope="module")
def tree_2007() -> Path:
    return pictured("voc2007-real")


@pytest.fixture(scope="module")
def tree_2012() -> Path:
    return pictured("voc2012-real")


def scored(task: Task, tree: Path, edition: Edition, directory: Path) -> tuple[CompetitionScores, GroundTruth]:
    """Run an example; it must be valid, and enter every class that there is to find."""
    warnings = example(task, tree, directory / "results.tar.gz", edition)
    truth = read_ground_truth(tree, for_image_set(edition, "val"))
    evaluation = evaluate(directory / "results.tar.gz", for_image_set(edition, "val"), truth)
    assert [each for each in (*warnings, *evaluation.problems) if each.severity == "error"] == []
    [scores] = evaluation.scores.values()
    return scores, truth


def chance(truth: GroundTruth, task: Task) -> float:
    """The expected average precision of a random ranking: the mean share of positives."""
    labels = truth.truths[task, "val"]
    assert isinstance(labels, LabelTruth)
    shares = [np.mean(each.label[each.label != 0] > 0) for each in labels.labels.values() if (each.label > 0).any()]
    return float(np.mean(shares))


def test_classification(tree_2007: Path, tmp_path: Path) -> None:
    scores, truth = scored(Task.CLASSIFICATION, tree_2007, load("VOC2007"), tmp_path)
    assert scores.not_entered == ()
    assert scores.primary.mean > 2 * chance(truth, Task.CLASSIFICATION)


def test_detection(tree_2007: Path, tmp_path: Path) -> None:
    scores, _ = scored(Task.DETECTION, tree_2007, load("VOC2007"), tmp_path)
    assert scores.primary.mean > 0.03  # random boxes have less than a tenth of it


def test_segmentation(tree_2007: Path, tmp_path: Path) -> None:
    scores, _ = scored(Task.SEGMENTATION, tree_2007, load("VOC2007"), tmp_path)
    per_class = dict(scores.primary.per_class)
    assert per_class.pop("background") > 0.5
    assert np.nanmean(list(per_class.values())) > 0.1  # a label drawn by lot is right one time in twenty


def test_layout_of_parts(tree_2012: Path, tmp_path: Path) -> None:
    scores, _ = scored(Task.LAYOUT, tree_2012, load("VOC2012"), tmp_path)
    assert scores.primary.per_class["head"] > 0.05


def test_layout_of_whole_people_finds_some(tmp_path: Path) -> None:
    """All parts of a person must be right at once; parts of one person are none of another's."""
    edition = load("VOC2007")
    tree = pictured_tree(golden("voc2007-real").ground_truth, edition, tmp_path / "tree", folder="Layout")
    scores, truth = scored(Task.LAYOUT, tree, edition, tmp_path)
    assert scores.details["person"].final_recall > 0.04  # with all parts right; boxes of the detector alone: 0.01
    of_val = for_image_set(edition, "val")
    layouts = read_results(tmp_path / "results.tar.gz", of_val, truth.image_sets).results["comp7"]
    by_chance = 0.0
    for seed in range(5):
        # The same parts, displaced as much as parts of people differ: how often they are right by chance.
        moved = layouts.content.part_box + np.random.default_rng(seed).normal(0, 30, (len(layouts.content.part_box), 1))
        shuffled = replace(layouts, content=replace(layouts.content, part_box=moved))
        by_chance += score({"comp7": shuffled}, of_val, truth).scores["comp7"].primary.mean / 5
    assert scores.primary.mean > 4 * by_chance


def test_instance_segmentation(tree_2012: Path, tmp_path: Path) -> None:
    text = INSTANCES.read_text().replace('["car", "person"]', json.dumps(load("VOC2012").classes))
    edition = read_text(text, INSTANCES.name)
    tree = tmp_path / "tree"
    objects = tree / "SegmentationObject"  # which the golden trees do not have: one object a class
    objects.mkdir(parents=True)
    for folder in (tree_2012 / "VOC2012").iterdir():
        (tree / folder.name).symlink_to(folder)
    for path in (tree / "SegmentationClass").iterdir():
        labels = np.asarray(Image.open(path))
        numbers = np.searchsorted(np.unique(labels), labels).astype(np.uint8)
        (objects / path.name).write_bytes(indexed_png(np.where(labels == VOID, VOID, numbers).astype(np.uint8)))
    scores, _ = scored(Task.INSTANCE_SEGMENTATION, tree, edition, tmp_path)
    assert scores.primary.mean > 0.02  # regions drawn by lot have less than a hundredth of it


def test_action(tree_2012: Path, tmp_path: Path) -> None:
    scores, truth = scored(Task.ACTION, tree_2012, load("VOC2012"), tmp_path)
    assert scores.not_entered == ()
    assert scores.primary.mean > 1.3 * chance(truth, Task.ACTION)


def test_missing_pictures_are_reported_and_nothing_is_written(tree_2007: Path, tmp_path: Path) -> None:
    tree = Path(shutil.copytree(tree_2007, tmp_path / "tree", copy_function=os.link))
    first = (tree / "VOC2007" / "ImageSets" / "Main" / "val.txt").read_text().split()[0]
    (tree / "VOC2007" / "JPEGImages" / f"{first}.jpg").unlink()
    with pytest.raises(ExampleError, match=rf"1 of .* images are not in JPEGImages.*{first}"):
        example(Task.CLASSIFICATION, tree, tmp_path / "r.zip", load("VOC2007"))
    assert list(tmp_path.iterdir()) == [tree]


def test_a_task_that_the_edition_lacks(tree_2007: Path, tmp_path: Path) -> None:
    with pytest.raises(ExampleError, match="VOC2007 has no action; it has classification, detection"):
        example(Task.ACTION, tree_2007, tmp_path / "r.zip", load("VOC2007"))
