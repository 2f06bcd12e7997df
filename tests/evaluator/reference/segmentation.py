"""Segmentation: pixel by pixel."""

LabelMap = list[list[int]]


def confusion(truths: list[LabelMap], results: list[LabelMap], labels: int) -> list[list[int]]:
    counts = [[0] * labels for _ in range(labels)]
    for truth, result in zip(truths, results, strict=True):
        for true_row, found_row in zip(truth, result, strict=True):
            for true, found in zip(true_row, found_row, strict=True):
                if true != 255:
                    counts[true][found] += 1
    return counts


def intersection_over_union(truths: list[LabelMap], results: list[LabelMap], label: int) -> float | None:
    both = either = 0
    for truth, result in zip(truths, results, strict=True):
        for true_row, found_row in zip(truth, result, strict=True):
            for true, found in zip(true_row, found_row, strict=True):
                if true == 255:
                    continue
                both += true == label and found == label
                either += label in (true, found)
    return both / either if either else None


def pixel_accuracy(truths: list[LabelMap], results: list[LabelMap], label: int) -> float:
    right = total = 0
    for truth, result in zip(truths, results, strict=True):
        for true_row, found_row in zip(truth, result, strict=True):
            for true, found in zip(true_row, found_row, strict=True):
                total += true == label
                right += true == label and found == label
    return right / total if total else 0.0


def frequency_weighted_iou(truths: list[LabelMap], results: list[LabelMap], labels: int) -> float | None:
    rows = confusion(truths, results, labels)
    pixels = sum(map(sum, rows))
    scores = [intersection_over_union(truths, results, label) for label in range(labels)]
    return sum((score or 0.0) * sum(row) / pixels for score, row in zip(scores, rows, strict=True)) if pixels else None
