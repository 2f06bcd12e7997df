"""Measures of one class's ranked results beyond the score: other overlaps, few results per image, calibration, size.

They are computed from evidence (`evaluator.statistics`).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.metrics.matches import OVERLAPS
from vocboard.evaluator.metrics.precision_recall import Judgement, areas_under_curve
from vocboard.evaluator.rules import Overlap, TaskRules
from vocboard.evaluator.statistics.ranked_evidence import MatchedResults

RESULTS_PER_IMAGE = (1, 2, 5, 10, 20, 50, 100)
NORMAL_SHARE = 0.15  # normal number of positives per image; Hoiem et al. 2012: "N = 0.15 N_images"
BINS = 10  # of confidence


def at_overlaps(evidence: MatchedResults, rules: TaskRules, strict: bool) -> dict[float, float]:
    """Return the average precision by required overlap: 0.5 to 0.95, as in COCO.

    Matching and interpolation are those of the competition; COCO's tools interpolate at 101 recalls, and let a
    detection fall back to another object. NaN for a class without positives.

    Source: T.-Y. Lin et al., "Microsoft COCO: Common Objects in Context", ECCV 2014; cocodataset.org, "Detection
    Evaluation".
    """
    return {
        overlap: _judge(evidence, overlap, rules, strict).average_precision(
            rules.interpolation, rules.without_positives
        )
        for overlap in OVERLAPS
    }


def normalised_average_precision(judgement: Judgement, positives: int, normal: float) -> float:
    """Return the area under the curve of recall and normalised precision, as if there were `normal` positives.

    Precision depends on how many positives there are: a detector that guesses is more often right about a frequent
    class. Normalised precision R N / (R N + F) has recall R and the number F of false positives, with the same N for
    all classes. It is interpolated as from VOC2010 on.

    Source: D. Hoiem, Y. Chodpathumwan and Q. Dai, "Diagnosing Error in Object Detectors", ECCV 2012, section 2.2.

    Args:
        judgement: results by rank.
        positives: number of positives of the class (or of some of its objects).
        normal: the number N.

    Returns:
        A fraction; NaN without positives, 0 if nothing was found.
    """
    if not positives:
        return float("nan")
    ranks = np.flatnonzero(judgement.true)
    recall = np.arange(1, len(ranks) + 1) / positives
    wrong = np.cumsum(judgement.false)[ranks]
    return float(areas_under_curve(recall, recall * normal / (recall * normal + wrong)).sum())


@dataclass(frozen=True, slots=True)
class BestF1:
    """The threshold of confidence at which the harmonic mean of precision and recall is highest.

    Attributes:
        confidence: of the last result that is kept; the highest such threshold if several are as good.
    """

    f1: float
    confidence: float
    precision: float
    recall: float


def best_f1(evidence: MatchedResults, judgement: Judgement) -> BestF1 | None:
    """Return the best F1 score; None without positives or if nothing was found.

    Results of equal confidence are kept or dropped together. Source: C. J. van Rijsbergen, "Information Retrieval",
    1979, chapter 7.
    """
    if not judgement.positives or not judgement.true.any():
        return None
    true, false = np.cumsum(judgement.true), np.cumsum(judgement.false)
    last_of_tie = np.flatnonzero(np.append(np.diff(evidence.confidence) != 0, True))
    f1 = 2 * true[last_of_tie] / (true[last_of_tie] + false[last_of_tie] + judgement.positives)
    rank = last_of_tie[int(np.argmax(f1))]
    found, wrong = int(true[rank]), int(false[rank])
    return BestF1(
        float(f1.max()), float(evidence.confidence[rank]), found / (found + wrong), found / judgement.positives
    )


def recall_by_results_per_image(evidence: MatchedResults, rules: TaskRules, rule: Overlap) -> dict[int, float]:
    """Return the recall if only the most confident results of each image are kept, by their number.

    Ties keep the order of the file. NaN for a class without positives. Source: COCO's average recall, which averages it
    over overlaps: J. Hosang et al., "What Makes for Effective Detection Proposals?", PAMI 2016.
    """
    place = place_in_image(evidence.image)
    found = {}
    for number in RESULTS_PER_IMAGE:
        judgement = matches_of(keep(evidence, place < number), rules, rule)
        found[number] = int(judgement.true.sum()) / judgement.positives if judgement.positives else float("nan")
    return found


@dataclass(frozen=True, eq=False, slots=True)
class Calibration:
    """How confidences compare with the share of results that are right.

    Attributes:
        results: (10,) number of true and false positives with a confidence in each tenth of 0 to 1.
        confidence: (10,) their mean confidence; NaN without results.
        precision: (10,) share of true positives; NaN without results.
        error: mean difference of both, over results.
    """

    results: NDArray[np.int64]
    confidence: NDArray[np.float64]
    precision: NDArray[np.float64]
    error: float

    def as_json(self) -> dict[str, Any]:
        """Return the numbers for JSON; undefined values are None."""
        return {
            "error": self.error,
            "results": self.results.tolist(),
            "confidence": [defined(value) for value in self.confidence.tolist()],
            "precision": [defined(value) for value in self.precision.tolist()],
        }


def calibration(evidence: MatchedResults, judgement: Judgement) -> Calibration | None:
    """Return the calibration; None if a confidence is not from 0 to 1, or there are no results.

    Source: M. P. Naeini, G. F. Cooper and M. Hauskrecht, "Obtaining Well Calibrated Probabilities Using Bayesian
    Binning", AAAI 2015 (expected calibration error, with ten bins); for detections F. Küppers et al., "Multivariate
    Confidence Calibration for Object Detection", CVPR workshops 2020. Ignored results do not count.
    """
    counted = judgement.true | judgement.false
    confidence, true = evidence.confidence[counted], judgement.true[counted]
    if not len(confidence) or confidence.min() < 0 or confidence.max() > 1:
        return None
    which = np.minimum((confidence * BINS).astype(np.int64), BINS - 1)
    results = np.bincount(which, minlength=BINS)
    empty = np.full(BINS, np.nan)
    mean = np.divide(np.bincount(which, confidence, BINS), results, out=empty.copy(), where=results > 0)
    precision = np.divide(np.bincount(which, true, BINS), results, out=empty.copy(), where=results > 0)
    error = float(np.nansum(np.abs(mean - precision) * results) / len(confidence))
    return Calibration(results, mean, precision, error)


def matches_of(evidence: MatchedResults, rules: TaskRules, rule: Overlap) -> Judgement:
    """Judge results by the rules of a competition."""
    repeats_are_false = rules.repeats_on_difficult_are_false
    return evidence.matches(rule, repeats_on_difficult_are_false=repeats_are_false).judge()


def keep(evidence: MatchedResults, kept: NDArray[np.bool_]) -> MatchedResults:
    """Return some of the results, and all objects."""
    return MatchedResults(
        image=evidence.image[kept],
        confidence=evidence.confidence[kept],
        object=evidence.object[kept],
        overlap=evidence.overlap[kept],
        object_image=evidence.object_image,
        object_difficult=evidence.object_difficult,
    )


def place_in_image(image: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return how many earlier elements have the same image.

    >>> place_in_image(np.array([5, 7, 5, 5])).tolist()
    [0, 0, 1, 2]
    """
    order = np.argsort(image, kind="stable")
    starts = np.flatnonzero(np.diff(image[order], prepend=-1))
    place = np.empty(len(image), dtype=np.int64)
    place[order] = np.arange(len(image)) - np.repeat(starts, np.diff(starts, append=len(image)))
    return place


def _judge(evidence: MatchedResults, overlap: float, rules: TaskRules, strict: bool) -> Judgement:
    return matches_of(evidence, rules, Overlap(overlap, strict))


def defined(value: Any) -> Any:
    """Return None for NaN, for JSON."""
    return None if isinstance(value, float) and np.isnan(value) else value
