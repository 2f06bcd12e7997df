"""Kinds of errors and scores without them are those of a reference implementation, and counts those of tidecv."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from benchmarks import tide
from tests.evaluator.diagnosis.cases import CLASSES, random_case
from tests.evaluator.reference import average_precision
from tests.evaluator.reference import tide as reference
from tests.evaluator.reference.detection import Detection, Object
from tests.evaluator.tasks.test_detection import detections_of, truth_of
from tests.support.golden import golden, golden_truth
from tests.support.seeds import seeds
from vocboard.evaluator.diagnosis.errors import ERRORS, diagnose
from vocboard.evaluator.diagnosis.objects import diagnose_objects
from vocboard.evaluator.diagnosis.what_if import FALSE_NEGATIVES, FALSE_POSITIVES, MISSED, WhatIf
from vocboard.evaluator.editions import Metric, Task, load
from vocboard.evaluator.ground_truth import DetectionTruth
from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.reading.results import read_results
from vocboard.evaluator.results import Detections, Entry
from vocboard.evaluator.scores import Curve
from vocboard.evaluator.tasks.detection.scoring import DetectionScorer

FIXES = (None, *ERRORS, MISSED, FALSE_POSITIVES, FALSE_NEGATIVES)


def what_if_of(
    content: dict[str, Detections], truth: DetectionTruth, name: str, key: str
) -> tuple[Counter[str], WhatIf]:
    edition = load(name)
    competition = edition.competitions[key]
    diagnosed = diagnose(Entry(competition, tuple(content), content), truth, edition)
    what_if = WhatIf(diagnosed, competition.rules)
    counts: Counter[str] = Counter()
    for of_class, each in diagnosed.classes.items():
        for index, error in enumerate(ERRORS):
            counts[error.value] += int(np.count_nonzero(each.error == index))
        counts[MISSED] += int(np.count_nonzero(what_if.missed(of_class)))
    return counts, what_if


@pytest.mark.parametrize("edition", ["VOC2007", "VOC2012"])
@pytest.mark.parametrize("seed", seeds(60))
def test_errors_and_scores_without_them_are_those_of_the_reference(edition: str, seed: int) -> None:
    found, objects = random_case(seed)
    content = {name: detections_of(rows) for name, rows in found.items()}
    counts, what_if = what_if_of(content, truth_of(objects, edition), edition, "comp3")
    results, truths = reference.judged(found, objects)
    assert +counts == +reference.counts(results, truths)
    rules = load(edition).competitions["comp3"].rules
    for fix in FIXES:
        scores = what_if.score(fix)
        for name in CLASSES:
            marks = reference.marks_without(results, truths, name, fix)
            expected = average_precision.average_precision(*marks, rules)
            wanted = np.nan if expected is None else expected
            assert scores.per_class[name] == pytest.approx(wanted, abs=1e-12, nan_ok=True), (fix, name)


@pytest.mark.parametrize(
    "metric",
    [Metric.AVERAGE_PRECISION, Metric.AVERAGE_PRECISION_AREA, Metric.AVERAGE_PRECISION_WITH_DIFFICULT],
)
@pytest.mark.parametrize("seed", seeds(12))
def test_the_score_without_fixing_is_the_one_that_ranks(metric: Metric, seed: int) -> None:
    found, objects = random_case(seed)
    content = {name: detections_of(rows) for name, rows in found.items()}
    edition, truth = load("VOC2007"), truth_of(objects, "VOC2007")
    competition = edition.competitions["comp3"]
    entry = Entry(replace(competition, rules=replace(competition.rules, metric=metric)), CLASSES, content)
    diagnosed = diagnose(entry, truth, edition)
    assert diagnosed is not None
    scores = DetectionScorer().score(entry, truth, edition, ImageSet(tuple("abcd")), None)
    expected = scores.primary
    score = WhatIf(diagnosed, entry.competition.rules).score()
    assert score.metric is expected.metric is metric
    np.testing.assert_allclose(list(score.per_class.values()), list(expected.per_class.values()), atol=1e-12)
    positives = {name: sum(not row[2] for row in rows) for name, rows in objects.items()}
    if metric is Metric.AVERAGE_PRECISION_WITH_DIFFICULT:
        positives = {name: len(rows) for name, rows in objects.items()}
    assert {name: len(each.objects) for name, each in diagnosed.classes.items()} == positives
    assert {name: details.positives for name, details in scores.details.items()} == positives
    for name, each in diagnosed.classes.items():
        curve = scores.curves[name]
        assert isinstance(curve, Curve)
        np.testing.assert_array_equal(curve.precision, each.judgement.curve().precision)


@cache
def rows_of_golden() -> tuple[
    dict[str, Detections], DetectionTruth, dict[str, list[Detection]], dict[str, list[Object]]
]:
    """Return results and truth of real detections as columns and as rows."""
    case, truth, edition = golden("voc2007-real"), golden_truth("voc2007-real"), load("VOC2007")
    read = read_results(case.results, edition, truth.image_sets, competitions=["comp4"])
    content = read.results["comp4"].content
    secret = truth.truths[Task.DETECTION, "test"]
    assert isinstance(secret, DetectionTruth)
    found = {
        name: [
            (str(image), confidence, tuple(box))
            for image, confidence, box in zip(
                each.image.tolist(), each.confidence.tolist(), each.box.tolist(), strict=True
            )
        ]
        for name, each in content.items()
    }
    objects: dict[str, list[Object]] = {name: [] for name in edition.classes}
    rows = zip(
        secret.image.tolist(), secret.class_index.tolist(), secret.box.tolist(), secret.difficult.tolist(), strict=True
    )
    for image, index, box, difficult in rows:
        objects[edition.classes[index]].append((str(image), tuple(box), difficult))
    return content, secret, found, objects


def test_the_order_of_the_files_changes_nothing() -> None:
    found, objects = random_case(1)
    content = {name: detections_of(rows) for name, rows in found.items()}
    edition = load("VOC2012")
    competition = edition.competitions["comp3"]
    reports = []
    for names in (CLASSES, CLASSES[::-1]):
        entry = Entry(competition, names, {name: content[name] for name in names})
        diagnosed = diagnose(entry, truth_of(objects, "VOC2012"), edition)
        assert diagnosed is not None
        reports.append(json.dumps(diagnose_objects(diagnosed, WhatIf(diagnosed, competition.rules))))
    assert reports[0] == reports[1]


def test_counts_of_real_detections_are_those_of_the_reference() -> None:
    content, secret, *_ = rows_of_golden()
    counts, _ = what_if_of(content, secret, "VOC2007", "comp4")
    assert counts == counts_of_the_reference()


@cache
def counts_of_the_reference() -> Counter[str]:
    """Return the counts of real detections by our rules, which take a second."""
    _, _, found, objects = rows_of_golden()
    return reference.counts(*by_image(found, objects))


def by_image(
    found: dict[str, list[Detection]], objects: dict[str, list[Object]], rules: frozenset[str] = reference.OURS
) -> tuple[list[reference.Result], list[reference.Truth]]:
    """Call the reference image by image, which is faster than giving it all images."""
    results, truths = [], []
    by_name: dict[str, tuple[dict[str, list[Detection]], dict[str, list[Object]]]] = {}
    for name, rows in found.items():
        for row in rows:
            by_name.setdefault(row[0], ({}, {}))[0].setdefault(name, []).append(row)
    for name, true in objects.items():
        for each in true:
            by_name.setdefault(each[0], ({}, {}))[1].setdefault(name, []).append(each)
    for own, here in by_name.values():
        some, others = reference.judged(own, here, rules)
        results += some
        truths += others
    return results, truths


@pytest.fixture(scope="module")
def tidecv() -> tide.Modules:
    """Return tidecv, installed apart."""
    try:
        return tide.imported()
    except tide.MissingError as error:
        pytest.skip(str(error))


def counted_by_tidecv(
    tidecv: tide.Modules, found: dict[str, list[Detection]], objects: dict[str, list[Object]]
) -> Counter[str]:
    truths = [
        tide.Box(image, name, of_coco(box), difficult=difficult)
        for name, true in objects.items()
        for image, box, difficult in true
    ]
    results = [
        tide.Box(image, name, of_coco(box), confidence=confidence)
        for name, rows in found.items()
        for image, confidence, box in rows
    ]
    return tide.count(tidecv, truths, results)


def of_coco(box: Sequence[float]) -> tuple[float, float, float, float]:
    return box[0], box[1], box[2] - box[0] + 1, box[3] - box[1] + 1


@pytest.mark.parametrize("seed", seeds(40))
def test_the_reference_counts_as_tidecv_does_by_its_rules(tidecv: tide.Modules, seed: int) -> None:
    found, objects = random_case(seed)
    expected = reference.counts(*reference.judged(found, objects, reference.TIDECV))
    assert +counted_by_tidecv(tidecv, found, objects) == +expected


def test_counts_of_real_detections_differ_from_tidecvs_only_by_the_rules_of_matching(tidecv: tide.Modules) -> None:
    _, _, found, objects = rows_of_golden()
    theirs = counted_by_tidecv(tidecv, found, objects)
    assert theirs == reference.counts(*by_image(found, objects, reference.TIDECV))
    ours = counts_of_the_reference()
    assert all(abs(ours[kind] - theirs[kind]) <= 0.1 * max(ours[kind], theirs[kind]) for kind in theirs)
