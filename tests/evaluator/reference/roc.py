"""Receiver operating characteristic of the 2005 chapter and the 2006 kit, counted threshold by threshold."""

from fractions import Fraction
from itertools import pairwise

Item = tuple[float, int]  # confidence (−∞ without one); 1, 0 or −1, in the order of the class's list
Point = tuple[Fraction, Fraction]


def points(items: list[Item]) -> list[Point]:
    """(false positive rate, true positive rate) of accepting all items of each confidence and above, and the ends."""
    result = [(Fraction(0), Fraction(0))]
    for threshold in sorted({confidence for confidence, _ in items}, reverse=True):
        accepted = [label for confidence, label in items if confidence >= threshold]
        result.append((_share(accepted, items, -1), _share(accepted, items, 1)))
    return [*result, (Fraction(1), Fraction(1))]


def area_under_envelope(items: list[Item]) -> Fraction | None:
    """VOC2006: of each true positive rate the first point, each step as high as its left end."""
    if not _both_kinds(items):
        return None
    found = points(items)
    envelope = [found[0]]
    for before, point in pairwise(found[:-1]):
        if point[1] != before[1]:
            envelope.append(point)
    envelope.append(found[-1])
    return sum(((right[0] - left[0]) * left[1] for left, right in pairwise(envelope)), Fraction(0))


def area(items: list[Item]) -> Fraction | None:
    """VOC2005: the share of pairs of a positive and a negative that are ranked rightly, ties one half."""
    if not _both_kinds(items):
        return None
    positives = [confidence for confidence, label in items if label == 1]
    negatives = [confidence for confidence, label in items if label == -1]
    won = sum(Fraction(right > wrong) + Fraction(right == wrong, 2) for right in positives for wrong in negatives)
    return won / (len(positives) * len(negatives))


def equal_error_accuracy(items: list[Item]) -> Fraction | None:
    """VOC2005: 1 − the rate where the lines between the points meet the diagonal."""
    if not _both_kinds(items):
        return None
    for (fp0, tp0), (fp1, tp1) in pairwise(points(items)):
        if fp1 >= 1 - tp1:
            crossing = (1 - tp0 - fp0) / ((1 - tp0 - fp0) + (fp1 - 1 + tp1))
            return 1 - (fp0 + crossing * (fp1 - fp0))
    raise AssertionError("with everything accepted all positives are found")


def _share(some: list[int], items: list[Item], label: int) -> Fraction:
    every = sum(1 for _, other in items if other == label)
    return Fraction(some.count(label), every) if every else Fraction(0)


def _both_kinds(items: list[Item]) -> bool:
    labels = {label for _, label in items}
    return {1, -1} <= labels
