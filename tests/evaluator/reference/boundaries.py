"""Pixels near boundaries, pixel by pixel, as the papers describe them."""

import math

LabelMap = list[list[int]]
VOID = 255


def strip(label_map: LabelMap, label: int, width: int) -> set[tuple[int, int]]:
    """The pixels of a label that `width` erosions by 3 x 3 pixels remove; outside the image is another label."""
    mask = {(y, x) for y, row in enumerate(label_map) for x, value in enumerate(row) if value == label}
    eroded = mask
    for _ in range(width):
        eroded = {(y, x) for y, x in eroded if all((y + b, x + a) in eroded for a in (-1, 0, 1) for b in (-1, 0, 1))}
    return mask - eroded


def boundary_iou(truths: list[LabelMap], results: list[LabelMap], label: int) -> float | None:
    both = either = 0
    for truth, result in zip(truths, results, strict=True):
        width = max(1, round(0.02 * math.hypot(len(truth), len(truth[0]))))
        pairs = [list(zip(*rows, strict=True)) for rows in zip(truth, result, strict=True)]
        known = [[VOID if true == VOID else found for true, found in row] for row in pairs]
        one, other = strip(truth, label, width), strip(known, label, width)
        both += len(one & other)
        either += len(one | other)
    return both / either if either else None


def trimap_accuracy(truths: list[LabelMap], results: list[LabelMap], width: int) -> float | None:
    right = total = 0
    for truth, result in zip(truths, results, strict=True):
        height, across = len(truth), len(truth[0])
        for y in range(height):
            for x in range(across):
                around = {
                    truth[b][a]
                    for b in range(max(0, y - width), min(height, y + width + 1))
                    for a in range(max(0, x - width), min(across, x + width + 1))
                }
                if truth[y][x] != VOID and len(around) > 1:
                    total += 1
                    right += truth[y][x] == result[y][x]
    return right / total if total else None
