"""Receiver operating characteristic, as the 2005 chapter draws it and the 2006 kit sums it: counted, point by point."""

from fractions import Fraction
from itertools import pairwise

Item = tuple[float, int]  # confidence (−∞ without one); 1, 0 or −1, in the order of the class's list


def points(items: list[Item]) -> list[tuple[Fraction, Fraction]]:
    """(false positive rate, true positive rate) after the first item of each confidence, and the two ends."""
    result = [(Fraction(0), Fraction(0))]
    ranked = sorted(items, key=lambda item: -item[0])
    for rank, (confidence, _) in enumerate(ranked):
        if rank == 0 or confidence != ranked[rank - 1][0]:
            above = [label for _, label in ranked[: rank + 1]]
            result.append((_share(above, items, -1), _share(above, items, 1)))
    return [*result, (Fraction(1), Fraction(1))]


def area(items: list[Item]) -> Fraction | None:
    """Area under the lower envelope: of each true positive rate its first point, each step as high as its left end."""
    if not _both_kinds(items):
        return None
    found = points(items)
    envelope = [found[0]]
    for before, point in pairwise(found[:-1]):
        if point[1] != before[1]:
            envelope.append(point)
    envelope.append(found[-1])
    total = Fraction(0)
    for left, right in pairwise(envelope):
        total += (right[0] - left[0]) * left[1]
    return total


def equal_error_accuracy(items: list[Item]) -> Fraction | None:
    """1 − the rate at which false positives and false negatives are equally frequent, thresholds joined by lines."""
    if not _both_kinds(items):
        return None
    thresholds = sorted({confidence for confidence, label in items if label}, reverse=True)
    rates = [(Fraction(0), Fraction(1))]  # false positive and false negative rate, nothing accepted
    for threshold in thresholds:
        accepted = [label for confidence, label in items if confidence >= threshold]
        rates.append((_share(accepted, items, -1), 1 - _share(accepted, items, 1)))
    for (fp0, fn0), (fp1, fn1) in pairwise(rates):
        if fp1 >= fn1:
            crossing = (fn0 - fp0) / ((fn0 - fp0) + (fp1 - fn1))
            return 1 - (fp0 + crossing * (fp1 - fp0))
    raise AssertionError("with everything accepted all positives are found")


def _share(some: list[int], items: list[Item], label: int) -> Fraction:
    every = sum(1 for _, other in items if other == label)
    return Fraction(some.count(label), every) if every else Fraction(0)


def _both_kinds(items: list[Item]) -> bool:
    labels = {label for _, label in items}
    return {1, -1} <= labels
