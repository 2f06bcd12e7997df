"""Segmentation: counted as the reference implementation does, and what is left out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.evaluator.reference import segmentation as reference
from tests.support.seeds import seeds
from vocboard.evaluator.editions import load
from vocboard.evaluator.ground_truth import SegmentationTruth
from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.metrics.confusion_matrix import Confusion
from vocboard.evaluator.metrics.label_runs import LabelRuns
from vocboard.evaluator.results import Entry, Segmented
from vocboard.evaluator.scores import CompetitionScores
from vocboard.evaluator.tasks.scorer import LabelMapCounts
from vocboard.evaluator.tasks.segmentation.scoring import SegmentationScorer

LabelMap = list[list[int]]


def counted(truths: list[LabelMap], results: list[LabelMap]) -> Confusion:
    confusion = Confusion(20)
    for image, (truth, result) in enumerate(zip(truths, results, strict=True)):
        confusion.add(image, LabelRuns.of(np.array(truth, dtype=np.uint8)), np.array(result, dtype=np.uint8))
    return confusion


def matrix_of(truths: list[LabelMap], results: list[LabelMap]) -> np.ndarray:
    return counted(truths, results).by_image().matrix(21)


def score(edition: str, confusion: Confusion, classes: tuple[str, ...] | None = None) -> CompetitionScores:
    competition = load(edition).competitions["comp5"]
    by_image = confusion.by_image()
    images = np.arange(1 + by_image.image.max(), dtype=np.int32)
    entry = Entry(competition, classes or competition.classes, Segmented(images))
    truth = SegmentationTruth.of([])  # the pixels have been compared with it
    counts = LabelMapCounts(by_image, None)
    return SegmentationScorer().score(entry, truth, load(edition), ImageSet(tuple(map(str, images))), counts)


def random_maps(seed: int) -> tuple[list[LabelMap], list[LabelMap]]:
    chance = np.random.default_rng(seed)
    sizes = [(3, 5), (1, 1), (4, 2)]
    few = [0, 0, 3, 15, 255]  # most classes are in neither truth nor result
    truths = [chance.choice(few, size).tolist() for size in sizes]
    results = [chance.choice([0, 3, 15, 20], size).tolist() for size in sizes]
    return truths, results


@pytest.mark.parametrize("seed", seeds(20))
def test_scores_as_the_reference_implementation_does(seed: int) -> None:
    truths, results = random_maps(seed)
    confusion = counted(truths, results)
    assert confusion.by_image().matrix(21).tolist() == reference.confusion(truths, results, 21)
    overlap = list(score("VOC2012", confusion).primary.per_class.values())
    share = list(score("VOC2007", confusion).primary.per_class.values())
    for label in range(21):
        expected = reference.intersection_over_union(truths, results, label)
        assert overlap[label] == pytest.approx(np.nan if expected is None else expected, nan_ok=True)
        assert share[label] == pytest.approx(reference.pixel_accuracy(truths, results, label))


@st.composite
def patchy_maps(draw: st.DrawFn) -> tuple[LabelMap, LabelMap]:
    """A truth and a result of one size, each anything from one area to noise."""
    chance = np.random.default_rng(draw(st.integers(0, 2**32)))
    height, width = draw(st.tuples(st.integers(1, 12), st.integers(1, 40)))

    def patchy(labels: list[int]) -> LabelMap:
        patch = draw(st.sampled_from([1, 2, 7, 9, 30, 500]))
        return np.repeat(chance.choice(labels, height * width), patch)[: height * width].reshape(height, width).tolist()

    return patchy([0, 1, 20, 255]), patchy([0, 1, 2, 20])


@given(st.lists(patchy_maps(), max_size=4))
def test_counts_runs_and_noise_as_the_reference_implementation_counts_pixels(
    pairs: list[tuple[LabelMap, LabelMap]],
) -> None:
    truths, results = [truth for truth, _ in pairs], [result for _, result in pairs]
    assert matrix_of(truths, results).tolist() == reference.confusion(truths, results, 21)


def test_counts_noise_of_many_pixels() -> None:
    chance = np.random.default_rng(1)
    truth, result = chance.integers(0, 21, (300, 500)), chance.integers(0, 21, (300, 500))
    counts = np.zeros((21, 21), dtype=np.int64)
    np.add.at(counts, (truth, result), 1)
    assert matrix_of([truth.tolist()], [result.tolist()]).tolist() == counts.tolist()


def test_refuses_a_label_too_large_in_noise_too() -> None:
    with pytest.raises(ValueError, match="label map"):
        matrix_of([[[0] * 8]], [[[0, 1, 2, 3, 4, 5, 6, 21]]])


def test_void_pixels_of_the_truth_are_left_out() -> None:
    assert matrix_of([[[255, 255, 1]]], [[[0, 1, 1]]]).sum() == 1


def test_a_class_in_neither_truth_nor_result_is_undefined_and_not_in_the_mean() -> None:
    primary = score("VOC2012", counted([[[0, 1]]], [[[0, 0]]])).primary
    assert np.isnan(primary.per_class["bicycle"])
    assert primary.mean_over == 2
    assert primary.mean == 0.25  # background 1/2, aeroplane 0


def test_in_2007_a_class_without_true_pixels_is_zero_and_counts_in_the_mean() -> None:
    primary = score("VOC2007", counted([[[0, 1]]], [[[0, 1]]])).primary
    assert primary.per_class["bicycle"] == 0.0
    assert primary.mean_over == 21
    assert primary.mean == pytest.approx(2 / 21)


def test_with_a_subset_of_classes_only_these_and_background_are_scored() -> None:
    scores = score("VOC2012", counted([[[0, 1, 2]]], [[[0, 1, 0]]]), classes=("aeroplane",))
    assert scores.primary.per_class == {"background": 0.5, "aeroplane": 1.0}
    assert scores.not_entered[0] == "bicycle"
    assert len(scores.not_entered) == 19


@pytest.mark.parametrize(
    ("truth", "result"),
    [([[0, 0]], [[0], [0]]), ([[0]], [[21]]), ([[0]], [[255]]), ([[21]], [[0]])],
)
def test_refuses_maps_that_do_not_fit(truth: LabelMap, result: LabelMap) -> None:
    with pytest.raises(ValueError, match="label map"):
        matrix_of([truth], [result])


def test_counts_the_images_that_show_each_label() -> None:
    confusion = Confusion(2)
    empty = np.zeros((2, 2), dtype=np.uint8)
    for image, labels in enumerate([[[0, 1], [1, 1]], [[0, 0], [255, 255]], [[1, 0], [0, 2]]]):
        confusion.add(image, LabelRuns.of(np.array(labels, dtype=np.uint8)), empty)
    assert confusion.by_image().images_by_label(3).tolist() == [3, 2, 1]
