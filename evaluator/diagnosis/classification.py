"""The diagnosis of a classification, as JSON: which other classes its mistakes show."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.statistics.evidence import EvidenceByClass
from vocboard.evaluator.statistics.ranked_evidence import LabelledItems
from vocboard.evaluator.tasks.classification.truth import POSITIVE, LabelTruth


def diagnose_classification(
    evidence: EvidenceByClass[LabelledItems], truth: LabelTruth
) -> dict[str, Mapping[str, Any]]:
    """Return for each class what is among its first images, as many as show it, for JSON.

    `precision` is the share of these images that show the class (the break-even point, where precision equals recall).
    `mistaken_for` says how many of the others show each other class; an image with two of them counts for both. `none`
    is the number of those that show no class at all. Images with only difficult objects are left out.

    Source of the measure: C. D. Manning, P. Raghavan and H. Schütze, "Introduction to Information Retrieval", 2008,
    section 8.4 (R-precision).

    Args:
        evidence: of images, by class.
        truth: labels of the same images.
    """
    shows = {name: _images_that_show(name, truth, evidence.images) for name in truth.labels}
    anything = np.any(list(shows.values()), axis=0)
    return {"first_images": {name: _of_class(name, each, shows, anything) for name, each in evidence.classes.items()}}


def _of_class(
    name: str, items: LabelledItems, shows: Mapping[str, NDArray[np.bool_]], anything: NDArray[np.bool_]
) -> dict[str, Any]:
    counted = items.label != 0
    label, image = items.label[counted], items.image[counted]
    number = int(np.count_nonzero(label > 0))
    first, right = image[:number], label[:number] > 0
    wrong = first[~right]
    counts = {other: int(np.count_nonzero(mask[wrong])) for other, mask in shows.items() if other != name}
    largest = sorted((other for other in counts if counts[other]), key=lambda other: -counts[other])
    return {
        "images": number,
        "precision": float(right.mean()) if number else None,
        "mistaken_for": {other: counts[other] for other in largest},
        "none": int(np.count_nonzero(~anything[wrong])),
    }


def _images_that_show(name: str, truth: LabelTruth, images: int) -> NDArray[np.bool_]:
    shown = np.zeros(images, dtype=np.bool_)
    labels = truth.labels[name]
    shown[labels.item[labels.label == POSITIVE]] = True
    return shown
