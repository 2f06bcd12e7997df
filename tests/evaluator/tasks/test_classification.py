"""Classification and action: ranked as the reference implementation does, and the cases that change numbers."""

import random
from dataclasses import replace

import numpy as np
import pytest

from tests.evaluator.reference import average_precision
from tests.evaluator.reference import classification as reference
from tests.support.seeds import seeds
from vocboard.evaluator.editions import Metric, Task, load
from vocboard.evaluator.ground_truth import Labels, LabelTruth
from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.results import Confidences, Entry
from vocboard.evaluator.scores import CompetitionScores
from vocboard.evaluator.tasks.definitions import TASKS
from vocboard.evaluator.tasks.scorers import SCORERS

Case = tuple[dict[str, float], list[tuple[str, int]]]  # confidence by item; (item, label) in the order of the list


def columns(case: Case) -> tuple[Confidences, Labels]:
    confidences, labels = case
    items = sorted({*confidences, *(item for item, _ in labels)})
    return (
        Confidences(
            item=np.array([items.index(item) for item in confidences], dtype=np.int32),
            confidence=np.array(list(confidences.values()), dtype=np.float64),
        ),
        Labels(
            item=np.array([items.index(item) for item, _ in labels], dtype=np.int32),
            label=np.array([label for _, label in labels], dtype=np.int8),
        ),
    )


def score(edition: str, key: str, name: str, case: Case) -> CompetitionScores:
    confidences, labels = columns(case)
    competition = load(edition).competitions[key]
    competition = replace(competition, rules=replace(competition.rules, classes=(name,)))
    entry = Entry(competition, (name,), {name: confidences})
    items = range(1 + int(max(labels.item.max(initial=-1), confidences.item.max(initial=-1))))
    people = np.array([[item, 1] for item in items], dtype=np.int32).reshape(-1, 2)
    public = ImageSet(tuple(map(str, items)), persons=people if key == "comp9" else None)
    return SCORERS[competition.task].score(entry, LabelTruth({name: labels}), load(edition), public, None)


def random_case(seed: int) -> Case:
    chance = random.Random(seed)
    items = [f"item {number}" for number in range(chance.randrange(30))]
    chance.shuffle(items)  # the class's list has an order of its own
    choices = [-1, -1] if seed % 7 == 0 else [1, 0, -1, -1]  # some classes have no positives
    labels = [(item, chance.choice(choices)) for item in items]
    chance.shuffle(items)
    lines = [item for item in items if chance.random() < 0.8]
    return {item: chance.choice([0.0, -1.5, 2.0, chance.random()]) for item in lines}, labels


def nan_for_none(value: float | None) -> float:
    return float("nan") if value is None else value


@pytest.mark.parametrize(
    ("edition", "key", "name"),
    [("VOC2008", "comp1", "car"), ("VOC2012", "comp1", "car"), ("VOC2011", "comp9", "walking")],
)
@pytest.mark.parametrize("seed", seeds(60))
def test_scores_as_the_reference_implementation_does(edition: str, key: str, name: str, seed: int) -> None:
    case = random_case(seed)
    scores = score(edition, key, name, case)
    rules = load(edition).competitions[key].rules
    marks, positives = reference.marks(*case, with_difficult=False)
    expected = average_precision.average_precision(marks, positives, rules)
    assert scores.primary.per_class[name] == pytest.approx(nan_for_none(expected), nan_ok=True)
    secondary = {measure.metric: measure.per_class[name] for measure in scores.secondary}
    if Metric.AVERAGE_PRECISION_AREA in secondary:
        area = average_precision.area(marks, positives)
        assert secondary[Metric.AVERAGE_PRECISION_AREA] == pytest.approx(nan_for_none(area), nan_ok=True)
    if Metric.AVERAGE_PRECISION_WITH_DIFFICULT in secondary:
        every = average_precision.average_precision(*reference.marks(*case, with_difficult=True), rules)
        found = secondary[Metric.AVERAGE_PRECISION_WITH_DIFFICULT]
        assert found == pytest.approx(nan_for_none(every), nan_ok=True)
    labels = dict(case[1])
    details = scores.details[name]
    assert (details.positives, details.results) == (positives, len(case[0]))
    assert details.difficult == sum(labels[item] == 0 for item in case[0])


def test_an_image_without_a_line_ranks_last_and_still_counts() -> None:
    labels = [("missing", 1), ("low", -1)]
    scores = score("VOC2012", "comp1", "car", ({"low": -1e29}, labels))
    assert scores.curves["car"].recall.tolist() == [0.0, 1.0]
    assert scores.primary.per_class["car"] == 0.5


def test_ties_keep_the_order_of_the_classs_own_list_not_of_the_file() -> None:
    confidences = {"first in file": 1.0, "first in list": 1.0}
    labels = [("first in list", 1), ("first in file", -1)]
    assert score("VOC2012", "comp1", "car", (confidences, labels)).primary.per_class["car"] == 1.0


def test_an_image_with_only_difficult_objects_counts_neither_way() -> None:
    scores = score(
        "VOC2012", "comp1", "car", ({"difficult": 2.0, "positive": 1.0}, [("difficult", 0), ("positive", 1)])
    )
    assert scores.primary.per_class["car"] == 1.0
    assert scores.details["car"].difficult == 1


def test_a_person_not_listed_for_an_action_is_left_out_of_it() -> None:
    # The people of 2010 have no flag for jumping, and no line in its list.
    case = ({"of 2010": 9.0, "of 2011": 1.0}, [("of 2011", 1)])
    scores = score("VOC2011", "comp9", "jumping", case)
    assert scores.primary.per_class["jumping"] == 1.0
    assert len(scores.curves["jumping"].recall) == 1


def test_a_class_without_positives_is_undefined_as_an_area_and_zero_with_eleven_points() -> None:
    case = ({"a": 1.0}, [("a", -1)])
    assert np.isnan(score("VOC2012", "comp1", "car", case).primary.per_class["car"])
    assert score("VOC2009", "comp1", "car", case).primary.per_class["car"] == 0.0


def test_a_task_without_curves_gets_none(monkeypatch: pytest.MonkeyPatch) -> None:
    case = random_case(1)
    assert score("VOC2007", "comp1", "car", case).curves
    monkeypatch.setattr(type(TASKS[Task.CLASSIFICATION]), "has_curves", False)
    assert not score("VOC2007", "comp1", "car", case).curves
