"""Compares results with people: object keypoint similarity.

Source: pycocotools, cocoeval.py, `computeOks` and `evaluateImg`.
"""

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.evidence.evidence import EvidenceByClass
from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.results import Entry
from vocboard.evaluator.rules import Edition
from vocboard.evaluator.tasks.ranked_scorer import RankedScorer
from vocboard.evaluator.tasks.scorer import LabelMapCounts
from vocboard_keypoints.evidence import ComparedPeople
from vocboard_keypoints.metrics import BY_CLASS
from vocboard_keypoints.results import People
from vocboard_keypoints.truth import KeypointTruth

PER_IMAGE = 20  # results of an image that count: the most confident ones
# Of the nose, then of the left and the right eye, ear, shoulder, elbow, wrist, hip, knee and ankle.
_SIGMAS = np.array([0.26, *np.repeat([0.25, 0.35, 0.79, 0.72, 0.62, 1.07, 0.87, 0.89], 2)]) / 10.0
_VARIANCES = (_SIGMAS * 2) ** 2


class KeypointScorer(RankedScorer[KeypointTruth, ComparedPeople]):
    """Scores keypoints."""

    by_class = BY_CLASS

    def evidence(
        self, entry: Entry, truth: KeypointTruth, edition: Edition, public: ImageSet, label_maps: LabelMapCounts | None
    ) -> EvidenceByClass[ComparedPeople]:
        """Return the compared people of each class."""
        classes = {name: compare(entry.content[name], truth, edition.classes.index(name)) for name in entry.classes}
        return EvidenceByClass(len(public.images), classes)


def compare(people: People, truth: KeypointTruth, class_index: int) -> ComparedPeople:
    """Rank the results of one class, and compare each with all people of its image."""
    kept = _most_confident(people)
    rank = kept[np.argsort(-people.confidence[kept], kind="stable")]
    own = np.flatnonzero(truth.class_index == class_index)
    own = own[np.lexsort((truth.ignored[own], truth.image[own]))]
    starts, ends = (np.searchsorted(truth.image[own], people.image[rank], side) for side in ("left", "right"))
    similar = [
        similarity(people.points[result], truth, own[start:end])
        for result, start, end in zip(rank.tolist(), starts.tolist(), ends.tolist(), strict=True)
    ]
    length = np.array([len(each) for each in similar], dtype=np.int64)
    return ComparedPeople(
        image=people.image[rank],
        first=np.cumsum(length) - length,
        similarity=np.concatenate([np.empty(0), *similar]),
        person_image=truth.image[own],
        person_ignored=truth.ignored[own],
        person_crowd=truth.crowd[own],
    )


def _most_confident(people: People) -> NDArray[np.intp]:
    """Return the indices of the results that count, image after image by decreasing confidence."""
    by_image = np.lexsort((np.arange(len(people.image)), -people.confidence, people.image))
    image = people.image[by_image]
    place = np.arange(len(image)) - np.searchsorted(image, image)
    return by_image[place < PER_IMAGE]


def similarity(points: NDArray[np.float64], truth: KeypointTruth, own: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the similarity of one result to some people."""
    found = np.empty(len(own))
    x, y = points[0::2], points[1::2]
    for place, person in enumerate(own.tolist()):
        true_x, true_y, visible = truth.points[person].T
        labelled = visible > 0
        if labelled.any():
            dx, dy = x - true_x, y - true_y
        else:  # the distance to a box of twice the size
            left, top, width, height = truth.box[person].tolist()
            dx = np.maximum(0, left - width - x) + np.maximum(0, x - (left + width * 2))
            dy = np.maximum(0, top - height - y) + np.maximum(0, y - (top + height * 2))
        error = (dx**2 + dy**2) / _VARIANCES / (truth.area[person] + np.spacing(1)) / 2
        error = error[labelled] if labelled.any() else error
        found[place] = np.sum(np.exp(-error)) / len(error)
    return found
