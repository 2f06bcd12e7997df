"""Which positives of each image are found, and how many images have any."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.evidence.evidence import Evidence, EvidenceByClass, Judged
from vocboard.evaluator.evidence.pixels import SegmentationEvidence
from vocboard.evaluator.names import Metric
from vocboard.evaluator.rules import BACKGROUND, Competition, Edition
from vocboard.evaluator.tasks.definitions import overlap_of


def positive_images(evidence: Evidence, edition: Edition, competition: Competition) -> dict[str, int]:
    """Return how many images show each class entered, other than by objects that do not count for the score.

    It depends on the ground truth only, not on the results.

    Args:
        evidence: of an entry in the competition.
        edition: the edition, whose rules apply.
        competition: the competition.
    """
    if isinstance(evidence, SegmentationEvidence):
        confusions = evidence.confusions
        return {
            name: len(np.unique(confusions.image[confusions.true == label]))
            for name, label in _labels(evidence, competition)
        }
    return {name: len(np.unique(judged.positive_image)) for name, judged in _judged(evidence, edition, competition)}


def found(evidence: Evidence, edition: Edition, competition: Competition) -> dict[str, NDArray[np.float64]]:
    """Return (images,) the share of each image's positives that is found, by class; NaN for images without any.

    See `across`.

    Args:
        evidence: of an entry in the competition.
        edition: the edition, whose rules apply.
        competition: the competition.
    """
    if isinstance(evidence, SegmentationEvidence):
        confusions, shares = evidence.confusions, {}
        for name, label in _labels(evidence, competition):
            is_true = confusions.true == label
            weights = confusions.pixels * is_true, confusions.pixels * (is_true & (confusions.found == label))
            total, right = (np.bincount(confusions.image, weights=each, minlength=evidence.images) for each in weights)
            shares[name] = _shares(right, total)
        return shares
    by_class = {}
    for name, judged in _judged(evidence, edition, competition):
        first = np.flatnonzero(judged.judgement.true | judged.judgement.false)[: judged.judgement.positives]
        hits = judged.image[first[judged.judgement.true[first]]]
        total, right = (np.bincount(each, minlength=evidence.images) for each in (judged.positive_image, hits))
        by_class[name] = _shares(right, total)
    return by_class


def _judged(evidence: Evidence, edition: Edition, competition: Competition) -> Iterator[tuple[str, Judged]]:
    assert isinstance(evidence, EvidenceByClass)  # noqa: S101  # there is no other kind
    metric = competition.rules.metric
    with_difficult = metric is Metric.AVERAGE_PRECISION_WITH_DIFFICULT
    for name, each in evidence.classes.items():
        yield name, each.judged(overlap_of(metric, edition), competition.rules, with_difficult=with_difficult)


def _labels(evidence: SegmentationEvidence, competition: Competition) -> Iterator[tuple[str, int]]:
    labels: Mapping[str, int] = {name: index for index, name in enumerate(competition.classes, start=1)}
    yield BACKGROUND, 0
    for name in evidence.entered:
        yield name, labels[name]


def _shares(part: NDArray[Any], total: NDArray[Any]) -> NDArray[np.float64]:
    shares = np.full(len(total), np.nan)
    np.divide(part, total, out=shares, where=total > 0)
    return shares
