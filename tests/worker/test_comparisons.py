"""What of statistics a leaderboard shows, and what it hides because too few images count."""

import uuid
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from vocboard.app.leaderboards.entries import Entry
from vocboard.app.leaderboards.sequences import Change as ShownChange
from vocboard.app.leaderboards.sequences import SequenceStatistics
from vocboard.app.leaderboards.shown_statistics import MEAN
from vocboard.app.submissions.models import Declared
from vocboard.evaluator.editions import load
from vocboard.evaluator.evidence.evidence import EvidenceByClass
from vocboard.evaluator.evidence.ranked_evidence import LabelledItems
from vocboard.evaluator.statistics.bootstrap import replicate
from vocboard.evaluator.statistics.found import found as found_by
from vocboard.evaluator.statistics.found import positive_images
from vocboard.evaluator.statistics.simultaneous import Change
from vocboard.worker import comparisons
from vocboard.worker.comparisons import Computed, statistics_of
from vocboard.worker.replicates import Found, StoredReplicates, weights_of

EDITION = load("VOC2012")
COMPETITION = EDITION.competitions["comp1"]
IMAGES, FREQUENT, RARE = 400, 150, 9


def evidence_of(
    seed: int, noise: float, *, rare: int = RARE, empty: Sequence[str] = ()
) -> EvidenceByClass[LabelledItems]:
    """The results of a method in a frequent class and a rare one; the truth is always the same.

    Args:
        rare: positives of the rare class.
        empty: classes without positives.
    """
    random = np.random.default_rng(seed)
    classes = {}
    for name, positives in (("car", FREQUENT), ("cat", rare), *((name, 0) for name in empty)):
        label = np.where(np.arange(IMAGES) < positives, 1, -1)
        confidence = label + random.normal(0, noise, IMAGES)
        rank = np.argsort(-confidence)
        classes[name] = LabelledItems(rank.astype(np.int32), confidence[rank], label[rank].astype(np.int8))
    return EvidenceByClass(IMAGES, classes)


def computed(*noises: float, **given: Any) -> tuple[Computed, list[uuid.UUID]]:
    """The statistics of methods that are the better, the less noise they have."""
    entries, stored = [], {}
    for number, noise in enumerate(noises):
        evidence, result = evidence_of(number, noise, **given), uuid.UUID(int=number)
        found = replicate(evidence, COMPETITION.rules.metric, EDITION, COMPETITION, weights_of(IMAGES))
        scores = {name: None if np.isnan(score) else score for name, score in found.measure.per_class.items()}
        stored[result] = StoredReplicates(
            IMAGES,
            found.measure,
            found.per_class,
            found.biases,
            positive_images(evidence, EDITION, COMPETITION),
            Found.of(found_by(evidence, EDITION, COMPETITION)),
        )
        entries.append(
            Entry(
                uuid.uuid4(), "M", "", "", Declared(), datetime.now(UTC), found.measure.mean, 2, True,
                scores, {}, result_id=result,
            )
        )  # fmt: skip

    def load_one(entry: Entry) -> StoredReplicates:
        assert entry.result_id is not None
        return stored[entry.result_id]

    return statistics_of(entries, COMPETITION, load_one, decimals=4), list(stored)


def test_nothing_is_shown_of_a_class_in_fewer_than_ten_images() -> None:
    found, results = computed(0.8, 1.2, 3.0)
    assert found.statistics.images == IMAGES
    for result in results:
        assert found.statistics.methods[result].classes.keys() == {"car"}
    assert found.differences.keys() == {MEAN, "car"}
    difference = found.differences["car"].of(results[0], results[2], 3)
    assert difference.is_significant


def test_nothing_is_said_of_a_difference_that_few_images_determine() -> None:
    """Equal results, and results that differ in some images, look the same."""
    found, results = computed(0.8, 0.8)
    same = [evidence_of(0, 0.8), evidence_of(0, 0.8)]
    assert found.differences["car"].of(*results, 3) is not None
    car = same[1].classes["car"]
    few = car.label.copy()
    few[[3, FREQUENT + 40]] = few[[FREQUENT + 40, 3]]
    measures = [
        replicate(one, COMPETITION.rules.metric, EDITION, COMPETITION, weights_of(IMAGES)).of_class("car")
        for one in (*same, EvidenceByClass(IMAGES, {"car": LabelledItems(car.image, car.confidence, few)}))
    ]
    pairs = comparisons.compare_pairs({str(number): one for number, one in enumerate(measures)})
    shown = comparisons.rounded_differences(pairs, [uuid.UUID(int=int(name)) for name in pairs.methods], 3)
    assert [shown.of(uuid.UUID(int=0), uuid.UUID(int=other), 3) for other in (1, 2)] == [None, None]


def test_methods_whose_scores_look_equal_do_not_differ() -> None:
    """An interval would tell which is better, and that of equal results is nothing but 0."""
    scores = {
        str(noise): replicate(
            evidence_of(number, noise), COMPETITION.rules.metric, EDITION, COMPETITION, weights_of(IMAGES)
        ).of_class("car")
        for number, noise in enumerate((0.8, 3.0))
    }
    pairs = comparisons.compared(scores, 0, higher_is_better=True)  # both are shown as 1
    assert (pairs.rank_ranges, pairs.first_group) == ({"0.8": (1, 2), "3.0": (1, 2)}, ("0.8", "3.0"))
    shown = comparisons.rounded_differences(pairs, [uuid.UUID(int=0), uuid.UUID(int=1)], 3)
    assert shown.of(uuid.UUID(int=0), uuid.UUID(int=1), 3) is None


def test_a_large_leaderboard_has_intervals_and_ranks_but_no_differences_by_class(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    small, results = computed(0.8, 1.2, 3.0)
    monkeypatch.setattr(comparisons, "MAX_METHODS_BY_CLASS", 2)
    large, _ = computed(0.8, 1.2, 3.0)
    assert large.statistics == small.statistics
    assert large.statistics.methods[results[0]].ranks is not None
    assert large.differences.keys() == {MEAN}


def test_a_mean_of_few_classes_is_as_coarse_as_a_class(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody who enters one class alone learns no more of it from its mean."""
    measure = replicate(evidence_of(0, 0.8), COMPETITION.rules.metric, EDITION, COMPETITION, weights_of(IMAGES))
    score = measure.of_class("car")
    monkeypatch.setattr(comparisons, "MANY_IMAGES", score.counting_images)
    of_nine, of_ten = (comparisons.shown_interval(score, 4, classes=classes) for classes in (9, 10))
    assert of_nine == comparisons.shown_interval(score, 4) == tuple(round(end, 2) for end in of_nine)
    assert 0 <= of_ten.low - of_nine.low < 0.01  # outwards
    assert 0 <= of_nine.high - of_ten.high < 0.01
    assert of_nine != of_ten


def test_classes_without_positives_do_not_make_the_mean_of_two_finer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparisons, "MANY_IMAGES", 0)
    empty = [name for name in COMPETITION.classes if name not in {"car", "cat"}]
    found, results = computed(1.2, 3.0, rare=FREQUENT, empty=empty)
    difference = found.differences[MEAN].of(*results, 3)
    ends = [*(end for one in results for end in found.statistics.methods[one].mean), difference.low, difference.high]
    assert ends == [round(end, 2) for end in ends]


def test_a_coarse_interval_contains_its_difference() -> None:
    change = Change(difference=-0.0028, low=-0.0049, high=-0.0007, counting_images=60)
    shown = comparisons.shown_change(change, 3, classes=20)
    assert (shown.low, shown.high, shown.is_significant) == (-0.01, 0.0, True)
    fine = comparisons.shown_change(replace(change, counting_images=100), 3, classes=20)
    assert (fine.low, fine.high) == (-0.005, -0.001)


def test_ends_of_a_coarse_interval_that_are_round_stay() -> None:
    change = Change(difference=0.4, low=0.29, high=0.55, counting_images=60)  # times 100: 28.99... and 55.00...01
    shown = comparisons.shown_change(change, 3, classes=20)
    assert (shown.low, shown.high) == (0.29, 0.55)


@pytest.mark.parametrize(
    ("ends", "better", "worse"),
    [((0.0, 0.01), True, False), ((-0.01, 0.0), False, True), ((0.0, 0.0), False, False)],
)
def test_whether_a_submission_is_better_follows_from_the_interval_that_is_shown(
    ends: tuple[float, float], better: bool, worse: bool
) -> None:
    shown = ShownChange(*ends, is_significant=True)
    assert (shown.is_better(higher_is_better=True), shown.is_worse(higher_is_better=True)) == (better, worse)
    assert (shown.is_better(higher_is_better=False), shown.is_worse(higher_is_better=False)) == (worse, better)
    stored = {"results": [], "steps": [], "overall": [*ends, True, True], "failure": None}  # by an earlier version
    assert SequenceStatistics.from_json(stored).overall == shown
    assert not ShownChange(*ends, is_significant=False).is_better(higher_is_better=True)
