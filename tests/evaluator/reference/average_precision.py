"""Average precision from a ranked list of marks: "true", "false" or "ignored"."""

from vocboard.evaluator.editions import Interpolation, TaskRules, WithoutPositives


def precision_recall(marks: list[str], positives: int) -> list[tuple[float | None, float | None]]:
    """(recall, precision) after each rank."""
    points = []
    true = false = 0
    for mark in marks:
        if mark == "true":
            true += 1
        if mark == "false":
            false += 1
        recall = true / positives if positives > 0 else None
        precision = true / (true + false) if true + false > 0 else None
        points.append((recall, precision))
    return points


def eleven_point(marks: list[str], positives: int) -> float:
    """The kits up to 2009: mean of the best precision at recall >= t; a recall of 0/0 is at least nothing."""
    total = 0.0
    for i in range(11):
        best = 0.0
        for recall, precision in precision_recall(marks, positives):
            if recall is not None and precision is not None and recall >= i * 0.1:
                best = max(best, precision)
        total += best / 11
    return total


def area(marks: list[str], positives: int) -> float | None:
    """From 2010 on: at each new recall, its step times the best precision at that or any greater recall."""
    if positives == 0:
        return None
    points = precision_recall(marks, positives)
    total = before = 0.0
    for recall, _ in points:
        assert recall is not None
        if recall > before:
            best = max(p for r, p in points if r is not None and p is not None and r >= recall)
            total += (recall - before) * best
            before = recall
    return total


def average_precision(marks: list[str], positives: int, rules: TaskRules) -> float | None:
    """By an edition's rules; None is undefined."""
    if rules.interpolation is not Interpolation.ELEVEN_POINT:
        return area(marks, positives)
    if not positives and rules.without_positives is WithoutPositives.UNDEFINED:
        return None
    return eleven_point(marks, positives)
