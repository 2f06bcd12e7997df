"""What an edition's rules mean, in sentences for pages and documentation."""

from evaluator.rules import ROC_METRICS, Interpolation, Metric, Task, TaskRules, WithoutPositives

UNDEFINED = "is n/a and left out of the mean"
ZERO = "scores 0 and counts in the mean"
PARTIAL_ENTRIES = (
    "Any subset of the classes may be entered. The mean is then over the classes entered, and the entry ranks after "
    "those that enter all classes."
)


def without_positives(rules: TaskRules, metric: Metric | None = None) -> str:
    """Say what a class scores of which the test set has no example.

    Args:
        rules: of a task.
        metric: the measure to speak of; the rules' primary one by default.

    >>> from evaluator.editions import load
    >>> without_positives(load("VOC2007").competitions["comp4"].rules)
    'A class without positives scores 0 and counts in the mean.'
    >>> without_positives(load("VOC2012").competitions["comp5"].rules)
    'A class in neither the ground truth nor the result is n/a and left out of the mean.'
    """
    metric = metric or rules.metric
    zero = rules.without_positives is WithoutPositives.ZERO
    if metric is Metric.INTERSECTION_OVER_UNION:
        return f"A class in neither the ground truth nor the result {UNDEFINED}."
    if metric is Metric.PIXEL_ACCURACY:
        return f"A class without true pixels {ZERO if zero else UNDEFINED}."
    if metric in ROC_METRICS:
        return f"A class without positives or without negatives {UNDEFINED}."
    sampled = rules.interpolation is Interpolation.ELEVEN_POINT and metric is not Metric.AVERAGE_PRECISION_AREA
    return f"A class without positives {ZERO if zero and sampled else UNDEFINED}."


def classes_not_entered(rules: TaskRules) -> str:
    """Say how the classes that an entry leaves out count in the others' scores; empty where they do not."""
    if rules.task is not Task.SEGMENTATION:
        return ""
    return (
        "Only background and the classes declared as entered are scored, but the pixels of the other classes still "
        "count: labelling one as background or as a class entered is an error of that label, and so is labelling a "
        "pixel of a class entered as a class that is not."
    )
