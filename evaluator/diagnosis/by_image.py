"""Kinds of results and objects of which each image counts once, however many it has.

Shares of all results would not be a safe summary for people who must not learn the ground truth: a hundred copies of
one box have the kind of one object. Here, other annotations of one image change the sums by at most 2, whatever was
uploaded: one of what the image had, and one of what it has. For that, results are chosen by rank alone, as many of each
class as it has positives.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.diagnosis.errors import Diagnosed, DiagnosedClasses
from vocboard.evaluator.diagnosis.false_positives import Kind, kind_of
from vocboard.evaluator.diagnosis.overlaps import similar_to
from vocboard.evaluator.diagnosis.what_if import MISSED, WhatIf
from vocboard.evaluator.editions import Task
from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.results import Entry
from vocboard.evaluator.rules import Edition
from vocboard.evaluator.tasks.classification.scoring import labelled
from vocboard.evaluator.tasks.classification.truth import NEGATIVE, POSITIVE, LabelTruth

RIGHT, NEARLY, NONE = "right", "nearly", "none"
FIRST_RESULTS, OBJECTS = "first_results", "objects"  # what the kinds are of
_OF_OBJECTS = (RIGHT, NEARLY, MISSED)
_OF_RESULTS = (RIGHT, *(kind.value for kind in Kind))
_OF_ITEMS = (RIGHT, Kind.SIMILAR.value, Kind.OTHER.value, NONE)

ByImage = Mapping[str, Mapping[str, float]]  # sums over images by kind, of what `FIRST_RESULTS` and `OBJECTS` name


def objects_by_image(diagnosed: DiagnosedClasses, what_if: WhatIf) -> ByImage:
    """Return the kinds of the first results of each class, and of the objects.

    Results are right, or of the kinds of `false_positives.Kind`. Objects are found (`right`), missed, or only nearly
    found: a localisation or class error aims at them. Ignored results do not count.
    """
    results = [_first_results(each) for each in diagnosed.classes.values()]
    objects = [
        (
            diagnosed.object_image[each.objects],
            np.select((each.found, ~what_if.missed(name)), (0, 1), default=2),
        )
        for name, each in diagnosed.classes.items()
    ]
    return {FIRST_RESULTS: _sums(results, _OF_RESULTS), OBJECTS: _sums(objects, _OF_OBJECTS)}


def labels_by_image(entry: Entry, truth: LabelTruth, edition: Edition, public: ImageSet) -> ByImage:
    """Return what the first images (or people) of each class show: the class, a similar class, another one, or none.

    Those with only difficult objects of the class do not count.
    """
    labels = truth.labels
    items = 1 + max((int(each.item.max(initial=-1)) for each in labels.values()), default=-1)
    shows = {name: np.zeros(items, dtype=np.bool_) for name in labels}
    for name, each in labels.items():
        shows[name][each.item[each.label == POSITIVE]] = True
    people = public.persons if entry.competition.task is Task.ACTION else None
    image_of = np.arange(items) if people is None else people[:, 0]
    nothing = np.zeros(items, dtype=np.bool_)
    anything = np.any([nothing, *shows.values()], axis=0)
    parts = []
    for name, content in entry.content.items():
        ranked = labelled(content, labels[name])
        first = slice(int(np.count_nonzero(ranked.label == POSITIVE)))
        item, label = ranked.image[first], ranked.label[first]
        is_similar = np.any([nothing, *(shows[other] for other in similar_to(name, edition) if other in shows)], axis=0)
        kind = np.select((label == POSITIVE, is_similar[item], anything[item]), range(3), default=3)
        counted = (label == POSITIVE) | (label == NEGATIVE)
        parts.append((image_of[item[counted]], kind[counted]))
    return {FIRST_RESULTS: _sums(parts, _OF_ITEMS)}


def _first_results(each: Diagnosed) -> tuple[NDArray[np.integer], NDArray[np.integer]]:
    """Return image and kind, as an index into `_OF_RESULTS`, of as many first results as the class has objects."""
    first = np.arange(min(len(each.objects), len(each.image)))
    kind = np.where(each.judgement.true[first], 0, 1 + kind_of(each, first))
    counted = each.judgement.true[first] | each.judgement.false[first]
    return each.image[first[counted]], kind[counted]


def _sums(parts: list[tuple[NDArray[np.integer], NDArray[np.integer]]], kinds: tuple[str, ...]) -> Mapping[str, float]:
    """Return the sum over images of the shares of each kind in the image."""
    image = np.concatenate([np.empty(0, dtype=np.int64), *(image for image, _ in parts)])
    kind = np.concatenate([np.empty(0, dtype=np.int64), *(kind for _, kind in parts)])
    _, row = np.unique(image, return_inverse=True)
    counts = np.zeros((row.max(initial=-1) + 1, len(kinds)))
    np.add.at(counts, (row, kind), 1)
    sums = (counts / counts.sum(axis=1, keepdims=True)).sum(axis=0)
    return dict(zip(kinds, sums.tolist(), strict=True))
