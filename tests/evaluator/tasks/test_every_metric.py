"""Every metric that a task lists can be the first of a competition or secondary, and is a fraction."""

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from tests.evaluator import trees
from tests.evaluator.tasks.test_instance_segmentation import EDITION as INSTANCES
from vocboard.evaluator.editions import Edition, LayoutProtocol, Metric, Task, load
from vocboard.evaluator.evaluation import read_for_scoring, score_results
from vocboard.evaluator.ground_truth.reader import read_ground_truth
from vocboard.evaluator.problems import has_errors
from vocboard.evaluator.scores import CompetitionScores
from vocboard.evaluator.statistics.collect import collect_evidence
from vocboard.evaluator.tasks.definitions import METRICS, TASKS
from vocboard.evaluator.tasks.detection.subsets import SUBSETS
from vocboard.evaluator.tasks.scorers import SCORERS

VOC2012 = load("VOC2012")
EDITIONS = {Task.INSTANCE_SEGMENTATION: INSTANCES}  # of tasks that VOC2012 lacks
TREES: dict[Task, dict[str, str | bytes]] = {
    Task.INSTANCE_SEGMENTATION: {
        "ImageSets/Segmentation/test.txt": "m1\n",
        "SegmentationClass/m1.png": trees.label_map([[1, 0]]),
        "SegmentationObject/m1.png": trees.label_map([[1, 0]]),
    }
}  # of the same
LAYOUT = (
    "<results><layout><image>l1</image><object>1</object><confidence>0.5</confidence>"
    "<part><class>head</class><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>4</xmax><ymax>4</ymax></bndbox></part>"
    "</layout></results>"
)
BOX = "<bndbox><xmin>1</xmin><ymin>1</ymin><xmax>10</xmax><ymax>10</ymax></bndbox>"
RESULTS: dict[Task, tuple[str, str | bytes]] = {
    Task.CLASSIFICATION: ("Main/comp1_cls_test_car.txt", "m1 0.5\nm2 0.25\n"),
    Task.DETECTION: ("Main/comp3_det_test_car.txt", "m1 0.9 1 1 10 10\nm2 0.8 1 1 10 10\n"),
    Task.SEGMENTATION: ("Segmentation/comp5_test_cls/m2.png", trees.label_map([[0, 7, 7], [0, 0, 0]])),
    Task.LAYOUT: ("Layout/comp7_layout_test.xml", LAYOUT),
    Task.ACTION: ("Action/comp9_action_test_walking.txt", "a1 2 0.5\na2 1 0.75\n"),
    Task.INSTANCE_SEGMENTATION: ("Instances/comp1_inst_test_car.txt", "m1 0.5 02\nm1 0.25 11\n"),
}


class Use(NamedTuple):
    task: Task
    metric: Metric
    is_secondary: bool
    protocol: LayoutProtocol | None = None

    def __str__(self) -> str:
        return "-".join(str(part) for part in self if part is not None)


def uses() -> Iterator[Use]:
    for task in RESULTS:
        definition = TASKS[task]
        protocol = LayoutProtocol.PARTS if task is Task.LAYOUT else None
        for metric in definition.metrics:
            yield Use(task, metric, False, protocol)
        for metric in () if protocol else definition.secondary_metrics(None):
            yield Use(task, metric, True)
        for allowed in LayoutProtocol if protocol else ():
            for metric in definition.secondary_metrics(allowed):
                yield Use(task, metric, True, allowed)


USES = list(uses())


def test_every_task_is_tried_here() -> None:
    missing = sorted(set(Task) - set(RESULTS))
    message = f"add {', '.join(missing)} to RESULTS, and to EDITIONS and TREES if VOC2012 lacks the task"
    assert not missing, message


INTERPOLATIONS = {", area under the curve", ", sampled at 11 points"}


def with_rules(edition: Edition, use: Use) -> Edition:
    """Return an edition whose competitions of the task have this metric."""
    definition = TASKS[use.task]
    competitions = dict(edition.competitions)
    for key, competition in competitions.items():
        if competition.task is use.task:
            rules = replace(
                competition.rules,
                metric=next(iter(definition.metrics)) if use.is_secondary else use.metric,
                secondary=(use.metric,) if use.is_secondary else (),
                board=(),
                layout_protocol=use.protocol,
            )
            if use.protocol is not None:
                rules = replace(rules, classes=definition.scored_names(edition.classes, edition.parts, use.protocol))
            competitions[key] = replace(competition, rules=rules)
    return replace(edition, competitions=competitions)


def files_of_subsets() -> dict[str, str | bytes]:
    """Cars of all sizes, shapes, flags and views."""
    flags = [f"<truncated>{one}</truncated><occluded>{one}</occluded>" for one in (0, 1)]
    views = [f"<pose>{view}</pose>" for view in ("Frontal", "Rear", "Left", "Right")]
    sides = [(10 * number, 100) for number in range(1, 11)] + [(200, 100)]
    cars = [
        trees.an_object("car", (1, 1, *side), flags[number % 2] + views[number % 4])
        for number, side in enumerate(sides)
    ]
    return {"Annotations/m1.xml": trees.annotation(trees.an_object("car"), *cars)}


def scored(directory: Path, use: Use) -> tuple[CompetitionScores, dict[str, float] | None]:
    """Return scores, and those from the evidence with each image drawn once; None if the metric has no intervals."""
    edition = with_rules(EDITIONS.get(use.task, VOC2012), use)
    files = dict(TREES.get(use.task) or trees.files_of_2012())
    name, content = RESULTS[use.task]
    if use.metric is Metric.FORCED_CHOICE_ACCURACY:
        files |= {"ImageSets/Main/dog_test.txt": "m2 -1\nm1 -1\n"}  # an image that shows nothing but a car
    if use.metric in SUBSETS:
        files |= files_of_subsets()
    if use.protocol is LayoutProtocol.WHOLE_PERSON_BY_BOX:
        files |= {"ImageSets/Layout/test.txt": "l1\n"}
        content = LAYOUT.replace("<object>1</object>", BOX)
    tree = trees.write(directory / "tree", files)
    upload = trees.tar(directory / "results.tar.gz", {f"results/{edition.name}/{name}": content}, "")
    truth = read_ground_truth(tree, edition)
    read, confusions = read_for_scoring(upload, edition, truth)
    assert not has_errors(read.problems)
    [scores] = score_results(read, edition, truth, confusions).scores.values()
    [(key, evidence)] = collect_evidence(read.results, edition, truth, confusions).items()
    rules = use.metric, evidence, edition, edition.competitions[key]
    if not METRICS[use.metric].has_intervals:
        with pytest.raises(ValueError, match=r"no intervals|no evidence"):
            SCORERS[use.task].resampled(*rules)
        return scores, None
    once = np.ones((evidence.images, 1), dtype=np.int32)
    resampled = SCORERS[use.task].resampled(*rules)
    return scores, {name: float(each.replicates(once)[0]) for name, each in resampled.items()}


@pytest.mark.parametrize("use", USES, ids=str)
def test_a_listed_metric_is_computed_and_a_fraction(tmp_path: Path, use: Use) -> None:
    scores, from_evidence = scored(tmp_path, use)
    measure = scores.secondary[0] if use.is_secondary else scores.primary
    assert measure.metric is use.metric
    defined = [value for value in measure.per_class.values() if not math.isnan(value)]
    assert defined
    assert all(0 <= value <= 1 for value in defined)
    assert from_evidence is None or from_evidence == pytest.approx(dict(measure.per_class), rel=1e-12, nan_ok=True)


def test_every_metric_that_can_rank_has_intervals() -> None:
    """Leaderboards show them, and `Bootstrap.primary` is the first metric that has some."""
    assert all(METRICS[metric].has_intervals for definition in TASKS.values() for metric in definition.metrics)


def test_every_metric_has_a_definition_and_a_task() -> None:
    assert set(METRICS) == set(Metric)
    assert {use.metric for use in USES} == set(Metric)


@pytest.mark.parametrize("use", USES, ids=str)
def test_only_average_precisions_mention_the_interpolation(use: Use) -> None:
    edition = with_rules(EDITIONS.get(use.task, VOC2012), use)
    rules = next(each.rules for each in edition.competitions.values() if each.task is use.task)
    definition = TASKS[use.task]
    assert definition.without_positives(rules, use.metric)
    if not use.is_secondary and not METRICS[use.metric].uses_interpolation:
        assert definition.score(rules).removeprefix(METRICS[use.metric].title) not in INTERPOLATIONS
