"""Columns of action: like classification, with people as items."""

from vocboard.evaluator.tasks.classification.columns import ConfidenceColumns
from vocboard.evaluator.tasks.content_columns import Known


class ActionColumns(ConfidenceColumns):
    """People and confidences of each action."""

    def items(self, known: Known) -> int:
        """Return the number of people."""
        return known.persons
