"""Columns of action: those of classification, the items being people."""

from vocboard.evaluator.tasks.classification.columns import ConfidenceColumns
from vocboard.evaluator.tasks.content_columns import Known


class ActionColumns(ConfidenceColumns):
    """People and confidences of each action."""

    def items(self, known: Known) -> int:
        """Return how many people there are."""
        return known.persons
