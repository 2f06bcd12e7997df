"""The best F1 that a threshold can reach, trying all thresholds."""


def best_f1(marks: list[str], confidences: list[float] | None, positives: int) -> float | None:
    """None without positives, 0 if nothing was found.

    Args:
        marks: "true", "false" or "ignored", by rank.
        confidences: by rank; None if every rank is a threshold.
        positives: number of positives.
    """
    if not positives:
        return None
    best = 0.0
    for last in range(len(marks)):
        if confidences is not None and last + 1 < len(marks) and confidences[last + 1] == confidences[last]:
            continue
        kept = marks[: last + 1]
        true, false = kept.count("true"), kept.count("false")
        if true:
            precision, recall = true / (true + false), true / positives
            best = max(best, 2 * precision * recall / (precision + recall))
    return best
