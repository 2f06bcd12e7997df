"""The diagnosis of every task: kinds of errors of layouts and regions, groups of editions, what annotations say."""

import json
import random
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.evaluator import trees
from tests.evaluator.reference.overlap import overlap
from tests.evaluator.tasks.test_instance_segmentation import EDITION as INSTANCES
from tests.support.golden import golden, golden_truth
from tests.support.seeds import seeds
from vocboard.evaluator.diagnosis.classification import diagnose_labels
from vocboard.evaluator.diagnosis.errors import ERRORS, diagnose
from vocboard.evaluator.diagnosis.objects import NOT_FOUND, RIGHT
from vocboard.evaluator.diagnosis.overlaps import similar_to
from vocboard.evaluator.diagnosis.report import diagnosis
from vocboard.evaluator.editions import EditionFileError, Task, load, names, read_text, source
from vocboard.evaluator.evaluation import read_for_scoring
from vocboard.evaluator.ground_truth import DetectionTruth, Labels, LabelTruth, LayoutTruth
from vocboard.evaluator.ground_truth.reader import read_ground_truth
from vocboard.evaluator.results import Confidences, Entry, Layouts, Results
from vocboard.evaluator.statistics.collect import collect_evidence
from vocboard.evaluator.stored_results.stored_results import digest
from vocboard.evaluator.tasks.detection.subsets import NO, UNKNOWN, VIEWS, YES

GOLDEN = "voc2012-synthetic"
VOC2012 = load("VOC2012")


@cache
def diagnosed() -> tuple[Results, dict[str, dict[str, Any]]]:
    truth = golden_truth(GOLDEN)
    read, confusions = read_for_scoring(golden(GOLDEN).results, VOC2012, truth, with_boundaries=True)
    evidence = collect_evidence(read.results, VOC2012, truth, confusions)
    return read.results, dict(diagnosis(read.results, VOC2012, truth, evidence, confusions=confusions))


def test_every_competition_has_a_diagnosis_in_json() -> None:
    results, found = diagnosed()
    assert set(found) == set(results)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    kinds = {results[key].competition.task: set(each) for key, each in found.items()}
    assert "first_images" in kinds[Task.CLASSIFICATION]
    assert "first_people" in kinds[Task.ACTION]
    assert {"errors", "confused_with"} < kinds[Task.DETECTION] & kinds[Task.LAYOUT]
    assert {"boundary_iou", "near_boundaries", "away_from_boundaries", "confusions"} < kinds[Task.SEGMENTATION]


def test_pixels_near_boundaries_and_away_from_them_are_all_pixels() -> None:
    results, found = diagnosed()
    key = next(key for key, entry in results.items() if entry.competition.task is Task.SEGMENTATION)
    near, away = found[key]["near_boundaries"], found[key]["away_from_boundaries"]
    right = sum(each["pixels"] - each["wrong"] for each in (near, away))
    assert right / (near["pixels"] + away["pixels"]) == pytest.approx(found[key]["pixel_accuracy"])


def test_errors_of_layouts_are_those_of_plain_loops_over_each_person() -> None:
    results, found = diagnosed()
    truth = golden_truth(GOLDEN)
    key = next(key for key, entry in results.items() if entry.competition.task is Task.LAYOUT)
    layouts, secret = results[key].content, truth.truths[Task.LAYOUT, "test"]
    assert isinstance(layouts, Layouts)
    assert isinstance(secret, LayoutTruth)
    assert layouts.object is not None
    counts: Counter[str] = Counter()
    for person in range(len(secret.image)):
        same = (layouts.image == secret.image[person]) & (layouts.object == secret.object[person])
        own = np.flatnonzero(secret.part_person == person)
        taken: set[int] = set()
        if same.any():
            layout = max(np.flatnonzero(same).tolist(), key=lambda each: (layouts.confidence[each], -each))
            for part in np.flatnonzero(layouts.part_layout == layout).tolist():
                shared = {int(each): overlap(layouts.part_box[part], secret.part_box[each]) or 0.0 for each in own}
                kind = layouts.part_type[part]
                mine = {each: value for each, value in shared.items() if secret.part_type[each] == kind}
                others = max((value for each, value in shared.items() if each not in mine), default=0.0)
                best = max(mine, key=mine.__getitem__, default=-1)
                most = mine.get(best, 0.0)
                if most >= 0.5:
                    counts["duplicate" if best in taken and others < 0.5 else "class" if best in taken else RIGHT] += 1
                    taken.add(best)
                elif most >= 0.1:
                    counts["location"] += 1
                elif others >= 0.5:
                    counts["class"] += 1
                else:
                    counts["both" if others > 0.1 else "background"] += 1
        counts[NOT_FOUND] += len(own) - len(taken)
    shown = found[key]["errors"]["counts"]
    assert {kind: count for kind, count in shown.items() if count and kind != "missed"} == dict(counts)
    assert shown["missed"] <= shown[NOT_FOUND]
    assert counts[RIGHT]
    assert counts["location"] + counts["both"] + counts["background"] + counts["class"] + counts["duplicate"]


def test_errors_of_regions(tmp_path: Path) -> None:
    tree = trees.write(
        tmp_path / "tree",
        {
            "ImageSets/Segmentation/test.txt": "m1\n",
            "SegmentationClass/m1.png": trees.label_map([[1, 1, 1, 1, 2, 2, 0, 0]]),
            "SegmentationObject/m1.png": trees.label_map([[1, 1, 1, 1, 2, 2, 0, 0]]),
        },
    )
    first, second = INSTANCES.classes[:2]
    # Run lengths of pixels outside and inside, column by column: right, again, a quarter, the other object, nothing.
    lines = "m1 0.9 044\nm1 0.8 044\nm1 0.7 017\nm1 0.6 422\nm1 0.5 62\n"
    upload = trees.tar(
        tmp_path / "results.tar.gz",
        {f"results/{INSTANCES.name}/Instances/comp1_inst_test_{first}.txt": lines},
        "",
    )
    truth = read_ground_truth(tree, INSTANCES)
    read, _ = read_for_scoring(upload, INSTANCES, truth)
    assert not read.problems
    [(key, entry)] = read.results.items()
    found = diagnose(entry, truth.truths[Task.INSTANCE_SEGMENTATION, "test"], INSTANCES)
    errors = found.classes[first].error.tolist()
    assert [None if error < 0 else ERRORS[error].value for error in errors] == [
        None, "duplicate", "location", "class", "background",
    ]  # fmt: skip
    whole = diagnosis(read.results, INSTANCES, truth, collect_evidence(read.results, INSTANCES, truth))
    assert whole[key]["confused_with"] == {first: {second: 1}}
    assert whole[key]["errors"]["counts"][RIGHT] == 1


def test_truncated_and_occluded_objects_and_views_come_from_annotations(tmp_path: Path) -> None:
    files = trees.files_of_2012()
    more = "<truncated>1</truncated><occluded>0</occluded><pose>Left</pose>"
    car, hidden = trees.an_object("car", more=more), trees.an_object("car", more="<occluded>1</occluded>")
    files["Annotations/m1.xml"] = trees.annotation(car, trees.an_object("unicorn"), hidden)
    truth = read_ground_truth(trees.write(tmp_path, files), VOC2012)
    found = truth.truths[Task.DETECTION, "test"]
    assert isinstance(found, DetectionTruth)
    assert found.view is not None
    assert found.truncated.tolist() == [YES, UNKNOWN]
    assert found.occluded.tolist() == [NO, YES]
    assert [VIEWS[view] for view in found.view] == ["left", "unspecified"]


def test_similar_classes_are_those_of_hoiem_et_al_and_of_edition_files() -> None:
    assert similar_to("sofa", VOC2012) == {"chair", "diningtable"}
    assert similar_to("bird", VOC2012) == {"cat", "cow", "dog", "horse", "person", "sheep", "aeroplane"}
    assert similar_to("bottle", VOC2012) == frozenset()
    assert {name for name in names() if not load(name).similar_classes} == {"ParallelEye"}
    text = source("VOC2012")
    assert "similar = [" in text
    wrong = text.replace('["aeroplane", "bird"],\n]', '["aeroplane", "unicorn"],\n]')
    with pytest.raises(EditionFileError, match="similar must be a list of at most 254 groups"):
        read_text(wrong, "wrong.toml")


def test_groups_do_not_make_servers_read_archives_again() -> None:
    sets = golden_truth(GOLDEN).image_sets
    keys = VOC2012.competitions.keys()
    assert digest(VOC2012, sets, keys) == digest(replace(VOC2012, similar_classes=()), sets, keys)


CLASSES = ("car", "cat", "dog")
IMAGES = 40
COMPETITION = load("VOC2012").competitions["comp1"]


@pytest.mark.parametrize("seed", seeds(20))
def test_mistakes_are_counted_by_what_they_show(seed: int) -> None:
    chance = random.Random(seed)
    labels = {name: [chance.choice([1, 0, -1, -1, -1]) for _ in range(IMAGES)] for name in CLASSES}
    scores = {name: [chance.random() for _ in range(IMAGES)] for name in CLASSES}
    items = np.arange(IMAGES, dtype=np.int32)
    truth = LabelTruth({name: Labels(items, np.array(own, dtype=np.int8)) for name, own in labels.items()})
    content = {name: Confidences(items, np.array(scores[name])) for name in reversed(CLASSES)}
    found = diagnose_labels(Entry(COMPETITION, CLASSES, content), truth)["first_images"]
    assert tuple(found) == CLASSES  # whatever the order of the files in the archive
    for name in CLASSES:
        counted = [image for image in range(IMAGES) if labels[name][image] != 0]
        ranked = sorted(counted, key=lambda image: -scores[name][image])
        number = labels[name].count(1)
        wrong = [image for image in ranked[:number] if labels[name][image] == -1]
        assert found[name]["images"] == number
        assert found[name]["precision"] == pytest.approx((number - len(wrong)) / number) if number else True
        for other in set(CLASSES) - {name}:
            shown = sum(labels[other][image] == 1 for image in wrong)
            assert found[name]["mistaken_for"].get(other, 0) == shown
        nothing = sum(all(labels[other][image] != 1 for other in CLASSES) for image in wrong)
        assert found[name]["none"] == nothing
