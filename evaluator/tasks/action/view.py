"""Confidences of people on pages of `vocboard view`, with their boxes."""

from vocboard.evaluator.tasks.action.rows import ActionRows
from vocboard.evaluator.tasks.classification.view import LabelView


class ActionView(LabelView):
    """Confidences of people."""

    kinds = ("positive", "negative")
    annotated_by = "actions"
    rows_of_task = ActionRows()
