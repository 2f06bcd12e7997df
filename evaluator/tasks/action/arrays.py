"""Action classification in memory: a score for each person and action."""

from vocboard.evaluator.arrays.confidences import ConfidenceArrays


class ActionArrays(ConfidenceArrays):
    """Scores of people."""

    of_people = True
