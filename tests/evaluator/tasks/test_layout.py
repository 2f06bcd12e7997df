"""Person layout: every protocol judged as its reference implementation does, and the cases that change numbers."""

import random
from dataclasses import replace

import numpy as np
import pytest

from tests.evaluator.random_boxes import near, random_box
from tests.evaluator.reference import average_precision
from tests.evaluator.reference import layout as reference
from tests.evaluator.reference.layout import PARTS, Layout, Person
from tests.support.seeds import seeds
from vocboard.evaluator.editions import Metric, load
from vocboard.evaluator.ground_truth import LayoutTruth
from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.results import Entry, Layouts
from vocboard.evaluator.rules import Overlap
from vocboard.evaluator.scores import CompetitionScores
from vocboard.evaluator.tasks.layout.scoring import LayoutScorer

IMAGES = ["a", "b", "c"]


def truth_of(people: list[Person]) -> LayoutTruth:
    parts = [(i, PARTS.index(name), box) for i, person in enumerate(people) for name, box in person.parts]
    return LayoutTruth(
        image=np.array([IMAGES.index(person.image) for person in people], dtype=np.int32),
        object=np.array([person.index for person in people], dtype=np.int32),
        box=np.array([person.box for person in people], dtype=np.float64).reshape(-1, 4),
        difficult=np.array([person.difficult for person in people], dtype=np.bool_),
        part_person=np.array([part[0] for part in parts], dtype=np.int32),
        part_type=np.array([part[1] for part in parts], dtype=np.int8),
        part_box=np.array([part[2] for part in parts], dtype=np.float64).reshape(-1, 4),
    )


def layouts_of(found: list[Layout], *, by_box: bool) -> Layouts:
    parts = [(i, PARTS.index(name), box) for i, one in enumerate(found) for name, box in one.parts]
    return Layouts(
        image=np.array([IMAGES.index(one.image) for one in found], dtype=np.int32),
        object=None if by_box else np.array([one.index for one in found], dtype=np.int32),
        person_box=np.array([one.box for one in found], dtype=np.float64).reshape(-1, 4) if by_box else None,
        confidence=np.array([one.confidence for one in found], dtype=np.float64),
        part_layout=np.array([part[0] for part in parts], dtype=np.int32),
        part_type=np.array([part[1] for part in parts], dtype=np.int8),
        part_box=np.array([part[2] for part in parts], dtype=np.float64).reshape(-1, 4),
    )


def score(year: int, found: list[Layout], people: list[Person], least_overlap: float = 0.5) -> CompetitionScores:
    edition = replace(load(f"VOC{year}"), overlap=Overlap(least_overlap))
    layouts = layouts_of(found, by_box=year == 2007)
    competition = edition.competitions["comp7"]
    entry = Entry(competition, competition.classes, layouts)
    return LayoutScorer().score(entry, truth_of(people), edition, ImageSet(tuple(IMAGES)), None)


def random_case(seed: int) -> tuple[list[Layout], list[Person]]:
    chance = random.Random(seed)
    people = []
    for image in IMAGES:
        for index in range(1, chance.randrange(4) + 1):
            names = chance.sample(["head", "hand", "hand", "foot", "foot"], chance.choice([0, 1, 2, 3, 5]))
            parts = [(name, random_box(chance)) for name in names]
            people.append(Person(image, index, random_box(chance), parts, difficult=chance.random() < 0.2))
    found = []
    for _ in range(chance.randrange(20)):
        confidence = chance.choice([1.0, 2.0, chance.random()])
        if not people or chance.random() < 0.1:
            found.append(Layout("a", 9, random_box(chance), confidence, [("head", random_box(chance))]))
            continue
        person = chance.choice(people)
        parts = [(name, near(box, chance) if chance.random() < 0.4 else box) for name, box in person.parts]
        if chance.random() < 0.3:
            parts.append((chance.choice(PARTS), random_box(chance)))
        chance.shuffle(parts)
        box = near(person.box, chance) if chance.random() < 0.3 else person.box
        found.append(Layout(person.image, person.index, box, confidence, parts))
    chance.shuffle(people)
    return found, sorted(people, key=lambda person: person.image)


@pytest.mark.parametrize("seed", seeds(80))
class TestAgainstTheSlowRival:
    def test_whole_person_by_box_of_2007(self, seed: int) -> None:
        found, people = random_case(seed)
        scores = score(2007, found, people)
        marks, positives = reference.whole_person_by_box(found, people)
        assert scores.primary.per_class["person"] == pytest.approx(average_precision.eleven_point(marks, positives))
        assert scores.details["person"].positives == positives

    def test_whole_person_in_file_order_of_2008_and_by_confidence_as_secondary(self, seed: int) -> None:
        found, people = random_case(seed)
        scores = score(2008, found, people)
        in_file_order = reference.whole_person_by_index(found, people, single_part_may_be_right=False)
        assert scores.primary.per_class["person"] == pytest.approx(average_precision.eleven_point(*in_file_order))
        ranked = reference.whole_person_by_index(reference.by_confidence(found), people, single_part_may_be_right=False)
        (secondary,) = scores.secondary
        assert secondary.metric == "average_precision_by_confidence"
        assert secondary.per_class["person"] == pytest.approx(average_precision.eleven_point(*ranked))

    def test_whole_person_by_confidence_of_2009(self, seed: int) -> None:
        found, people = random_case(seed)
        ranked = reference.whole_person_by_index(reference.by_confidence(found), people, single_part_may_be_right=False)
        expected = average_precision.eleven_point(*ranked)
        assert score(2009, found, people).primary.per_class["person"] == pytest.approx(expected)

    @pytest.mark.parametrize("year", [2010, 2012])
    def test_parts_from_2010_on_and_whole_people_as_secondary(self, seed: int, year: int) -> None:
        found, people = random_case(seed)
        scores = score(year, found, people)
        for name in PARTS:
            marks, positives = reference.parts(found, people, name)
            expected = average_precision.area(marks, positives)
            assert scores.primary.per_class[name] == pytest.approx(
                np.nan if expected is None else expected, nan_ok=True
            )
            assert scores.details[name].positives == positives
            assert scores.details[name].results == sum(kind == name for one in found for kind, _ in one.parts)
        ranked = reference.whole_person_by_index(reference.by_confidence(found), people, single_part_may_be_right=True)
        expected = average_precision.area(*ranked)
        (secondary,) = scores.secondary
        assert secondary.metric == "whole_person_average_precision"
        assert secondary.per_class["person"] == pytest.approx(np.nan if expected is None else expected, nan_ok=True)


BOX = (1.0, 1.0, 10.0, 10.0)
HEAD, HAND = ("head", (1.0, 1.0, 4.0, 4.0)), ("hand", (7.0, 7.0, 9.0, 9.0))
PERSON = Person("a", 1, BOX, [HEAD, HAND])
RIGHT = Layout("a", 1, BOX, 1.0, [HAND, HEAD])
WRONG = Layout("a", 1, BOX, 2.0, [HEAD])


def average(year: int, found: list[Layout], people: list[Person]) -> dict[str, float]:
    return dict(score(year, found, people).primary.per_class)


def test_in_2007_a_wrong_layout_claims_its_person_and_later_a_right_one_does_not() -> None:
    assert average(2007, [RIGHT], [PERSON]) == {"person": 1.0}
    assert average(2007, [WRONG, RIGHT], [PERSON]) == {"person": 0.0}
    assert average(2009, [WRONG, RIGHT], [PERSON]) == {"person": 0.5}


def test_in_2007_a_right_layout_of_a_difficult_person_is_true_although_not_a_positive() -> None:
    difficult = Person("b", 1, BOX, [HEAD, HAND], difficult=True)
    scores = score(2007, [RIGHT, Layout("b", 1, BOX, 0.5, [HEAD, HAND])], [PERSON, difficult])
    assert scores.details["person"].positives == 1
    assert scores.curves["person"].precision.tolist() == [1.0, 1.0]


def test_in_2008_the_order_of_the_file_is_the_ranking() -> None:
    scores = score(2008, [RIGHT, WRONG], [PERSON])
    assert scores.primary.per_class == {"person": 1.0}
    assert scores.secondary[0].per_class == {"person": 0.5}


def test_the_kits_call_every_layout_of_one_part_wrong() -> None:
    single = Person("a", 1, BOX, [HEAD])
    fitting = Layout("a", 1, BOX, 1.0, [HEAD])
    assert [average(year, [fitting], [single])["person"] for year in (2007, 2008, 2009)] == [0.0, 0.0, 0.0]
    assert score(2010, [fitting], [single]).secondary[0].per_class["person"] == 1.0


def test_evidence_that_was_collected_without_a_metric_of_whole_people_does_not_give_that_of_parts() -> None:
    edition, metric = load("VOC2010"), Metric.WHOLE_PERSON_AVERAGE_PRECISION
    competition = edition.competitions["comp7"]
    entry = Entry(competition, competition.classes, layouts_of([RIGHT], by_box=False))
    evidence = LayoutScorer().evidence(entry, truth_of([PERSON]), edition, ImageSet(tuple(IMAGES)), None)
    assert list(LayoutScorer().values(metric, evidence, edition, competition)) == ["person"]
    with pytest.raises(ValueError, match="whole_person_average_precision needs evidence that was collected for it"):
        LayoutScorer().values(metric, replace(evidence, others={}), edition, competition)


def test_from_2010_on_only_the_most_confident_layout_of_a_person_counts() -> None:
    assert average(2010, [RIGHT, WRONG], [PERSON])["hand"] == 0.0  # WRONG has the greater confidence, and no hand
    assert average(2010, [RIGHT, WRONG], [PERSON])["head"] == 1.0


def test_a_layout_of_somebody_not_listed_counts_neither_way() -> None:
    stranger = Layout("c", 4, BOX, 9.0, [HEAD, HAND])
    assert average(2009, [stranger, RIGHT], [PERSON]) == {"person": 1.0}
    assert average(2012, [stranger, RIGHT], [PERSON])["head"] == 1.0


def test_a_second_part_on_the_same_true_part_is_false() -> None:
    twice = Layout("a", 1, BOX, 1.0, [HEAD, HEAD])
    scores = score(2012, [twice], [PERSON])
    assert scores.curves["head"].precision.tolist() == [1.0, 0.5]


@pytest.mark.parametrize(("year", "people"), [(2007, [PERSON]), (2007, []), (2012, [PERSON])])
def test_what_overlaps_nothing_is_wrong_even_if_no_overlap_is_asked_for(year: int, people: list[Person]) -> None:
    far = (900.0, 900.0, 910.0, 910.0)
    scores = score(year, [Layout("a", 1, far, 1.0, [("hand", far), ("head", far)])], people, least_overlap=0.0)
    assert [details.final_precision for details in scores.details.values() if details.results] == (
        [0.0] if year == 2007 else [0.0, 0.0]
    )


def test_nobody_listed_is_undefined_not_an_error() -> None:
    assert np.isnan(list(average(2012, [RIGHT], []).values())).all()
    assert average(2009, [RIGHT], []) == {"person": 0.0}


@pytest.mark.parametrize("year", [2007, 2008, 2009])
def test_a_layout_is_wrong_if_two_parts_share_one_and_another_is_left_over(year: int) -> None:
    here, beside, there = (1.0, 1.0, 10.0, 10.0), (1.0, 1.0, 10.0, 9.0), (30.0, 30.0, 40.0, 40.0)
    apart = Person("a", 1, BOX, [("hand", here), ("hand", there)])
    both_here = Layout("a", 1, BOX, 1.0, [("hand", here), ("hand", beside)])
    assert average(year, [both_here], [apart]) == {"person": 0.0}  # the true hand there is not matched

    together = Person("a", 1, BOX, [("hand", here), ("hand", beside)])
    one_there = Layout("a", 1, BOX, 1.0, [("hand", here), ("hand", there)])
    assert average(year, [one_there], [together]) == {"person": 0.0}  # the hand found there matches none

    crossed = Layout("a", 1, BOX, 1.0, [("hand", there), ("hand", here)])
    assert average(year, [crossed], [apart]) == {"person": 1.0}
