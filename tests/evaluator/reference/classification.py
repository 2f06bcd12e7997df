"""Classification of images and action classification of people."""


def marks(confidences: dict[str, float], labels: list[tuple[str, int]], with_difficult: bool) -> tuple[list[str], int]:
    """Marks by rank and the number of positives.

    Args:
        confidences: of those items that have a line.
        labels: (item, 1, 0 or −1) in the order of the class's list.
        with_difficult: whether 0 counts as positive.
    """
    unranked = list(labels)
    ranked = []
    while unranked:
        best = unranked[0]
        for candidate in unranked[1:]:  # strictly greater: of equals the first in the list stays
            if confidences.get(candidate[0], float("-inf")) > confidences.get(best[0], float("-inf")):
                best = candidate
        unranked.remove(best)
        ranked.append(best)
    result, positives = [], 0
    for _, label in ranked:
        if label == 1 or (label == 0 and with_difficult):
            result.append("true")
            positives += 1
        elif label == 0:
            result.append("ignored")
        else:
            result.append("false")
    return result, positives
