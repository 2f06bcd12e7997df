"""The diagnosis of a classification (of images or actions), as JSON: which other classes its mistakes show."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.editions import Task
from vocboard.evaluator.evidence.ranked_evidence import LabelledItems
from vocboard.evaluator.results import Entry
from vocboard.evaluator.tasks.classification.scoring import labelled
from vocboard.evaluator.tasks.classification.truth import POSITIVE, LabelTruth


def diagnose_labels(entry: Entry, truth: LabelTruth) -> dict[str, Mapping[str, Any]]:
    """Return for each class what is among its first items, as many as show it, for JSON.

    Items are images, or for actions people. `precision` is the share of these items that show the class (the break-even
    point, where precision equals recall). `mistaken_for` says how many of the others show each other class; an item
    with two of them counts for both. `none` is the number of those that show no class at all. Items with only difficult
    objects are left out.

    Source of the measure: C. D. Manning, P. Raghavan and H. Schütze, "Introduction to Information Retrieval", 2008,
    section 8.4 (R-precision).

    Args:
        entry: confidences by class.
        truth: labels of the same items.
    """
    items = 1 + max((int(labels.item.max(initial=-1)) for labels in truth.labels.values()), default=-1)
    shows = {name: _items_that_show(name, truth, items) for name in truth.labels}
    anything = np.any(list(shows.values()), axis=0)
    ranked = {name: labelled(entry.content[name], truth.labels[name]) for name in entry.classes}
    noun = "people" if entry.competition.task is Task.ACTION else "images"
    return {f"first_{noun}": {name: _of_class(name, each, shows, anything, noun) for name, each in ranked.items()}}


def _of_class(
    name: str, items: LabelledItems, shows: Mapping[str, NDArray[np.bool_]], anything: NDArray[np.bool_], noun: str
) -> dict[str, Any]:
    counted = items.label != 0
    label, item = items.label[counted], items.image[counted]
    number = int(np.count_nonzero(label > 0))
    first, right = item[:number], label[:number] > 0
    wrong = first[~right]
    counts = {other: int(np.count_nonzero(mask[wrong])) for other, mask in shows.items() if other != name}
    largest = sorted((other for other in counts if counts[other]), key=lambda other: -counts[other])
    return {
        noun: number,
        "precision": float(right.mean()) if number else None,
        "mistaken_for": {other: counts[other] for other in largest},
        "none": int(np.count_nonzero(~anything[wrong])),
    }


def _items_that_show(name: str, truth: LabelTruth, items: int) -> NDArray[np.bool_]:
    shown = np.zeros(items, dtype=np.bool_)
    labels = truth.labels[name]
    shown[labels.item[labels.label == POSITIVE]] = True
    return shown
