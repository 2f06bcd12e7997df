"""Whether an entrant's submissions differ: against a slow reference, and on made-up entrants of which it is known."""

import math

import numpy as np
import pytest

from vocboard.evaluator.evidence.weights import draw_weights
from vocboard.evaluator.statistics.influence import ERROR_ALLOWANCE, degrees_of_freedom, influences, student_quantile
from vocboard.evaluator.statistics.intervals import ReplicatedScore
from vocboard.evaluator.statistics.sequence import SequenceComparison, compare_sequence

IMAGES = 200
WEIGHTS = draw_weights(IMAGES)


def scored(right: np.ndarray) -> ReplicatedScore:
    """Return the share of images that are right, with its replicates."""
    replicates = right @ WEIGHTS.astype(np.float64) / IMAGES
    return ReplicatedScore(float(right.mean()), replicates, influences(WEIGHTS, replicates[None])[0])


def entrant(random: np.random.Generator, gains: list[float]) -> SequenceComparison:
    """Submissions with this chance more than 50 % to be right about an image; two of three images stay as they were."""
    hardness = random.random(IMAGES)
    submissions = []
    for gain in gains:
        hardness = np.where(random.random(IMAGES) < 1 / 3, random.random(IMAGES), hardness)
        submissions.append(scored((hardness < 0.5 + gain).astype(np.float64)))
    return compare_sequence(submissions)


def reference(scores: list[ReplicatedScore]) -> list[tuple[float, float, float]]:
    """The same, one number at a time: difference and ends of the interval of each step, then of all."""
    pairs = [(number, number - 1) for number in range(1, len(scores))]
    if len(scores) > 2:
        pairs.append((len(scores) - 1, 0))
    number = len(scores[0].replicates)
    differences, errors, freedoms, drawn = [], [], [], []
    for later, earlier in pairs:
        each = [
            float(scores[later].replicates[place]) - float(scores[earlier].replicates[place]) for place in range(number)
        ]
        mean = sum(each) / number
        differences.append(scores[later].score - scores[earlier].score)
        errors.append(math.sqrt(sum((one - mean) ** 2 for one in each) / (number - 1)))
        influence = scores[later].influence - scores[earlier].influence
        freedoms.append(int(degrees_of_freedom(influence[None], number)[0]))
        drawn.append(each)
    largest = sorted(
        max(
            (
                abs(each[place] - difference) / error
                for each, difference, error in zip(drawn, differences, errors, strict=True)
                if error > 1e-12
            ),
            default=0.0,
        )
        for place in range(number)
    )
    position = 0.95 * (number - 1)
    below = math.floor(position)
    critical = largest[below] + (largest[below + 1] - largest[below]) * (position - below)
    found = []
    for difference, error, freedom in zip(differences, errors, freedoms, strict=True):
        margin = ERROR_ALLOWANCE * float(student_quantile(np.array([critical]), freedom)[0]) * error
        if (freedom < 10 and error > 1e-12) or (error <= 1e-12 and abs(difference) > 1e-12):
            margin = math.nan
        found.append((difference, difference - margin, difference + margin))
    return found


@pytest.mark.parametrize("number", [2, 3, 8])
def test_agrees_with_a_slow_reference(number: int) -> None:
    random = np.random.default_rng(number)
    scores = [scored((random.random(IMAGES) < 0.4 + 0.05 * place).astype(np.float64)) for place in range(number)]
    scores[1] = scores[0]  # the same results again
    found = compare_sequence(scores)
    changes = found.steps if number == 2 else (*found.steps, found.overall)
    expected = reference(scores)
    assert len(changes) == len(expected)
    for change, (difference, low, high) in zip(changes, expected, strict=True):
        assert change.difference == difference
        assert (change.low, change.high) == pytest.approx((low, high), rel=1e-12, abs=1e-12, nan_ok=True)
    assert found.overall.difference == scores[-1].score - scores[0].score
    assert found.steps[0].counting_images == 0
    assert not found.steps[0].is_significant


def test_entrants_whose_submissions_differ_by_chance_are_called_different_in_about_one_of_twenty_cases() -> None:
    random = np.random.default_rng(13)
    entrants = [entrant(random, [0.0] * 7) for _ in range(400)]
    called = sum(any(each.is_significant for each in (*one.steps, one.overall)) for one in entrants)
    assert called <= 0.05 * 400 + 3 * math.sqrt(400 * 0.05 * 0.95)
    assert called > 0


def test_a_real_improvement_is_found_in_its_step_and_overall() -> None:
    random = np.random.default_rng(13)
    entrants = [entrant(random, [0.0, 0.0, 0.0, 0.25, 0.25]) for _ in range(50)]
    assert all(one.steps[2].is_significant and one.steps[2].low > 0 for one in entrants)
    assert all(one.overall.low > 0 for one in entrants)
    assert sum(one.steps[0].is_significant for one in entrants) <= 6


def test_many_small_improvements_show_in_the_whole_and_in_no_step() -> None:
    found = entrant(np.random.default_rng(13), [0.02 * place for place in range(15)])
    assert found.overall.low > 0
    assert not any(each.is_significant for each in found.steps)


def test_lone_and_undefined_submissions_are_not_compared() -> None:
    one = scored(np.ones(IMAGES))
    undefined = ReplicatedScore(math.nan, one.replicates, one.influence)
    for scores in ([], [one], [one, undefined]):
        with pytest.raises(ValueError, match="defined score"):
            compare_sequence(scores)
