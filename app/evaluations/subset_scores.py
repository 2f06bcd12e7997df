"""The stored form of scores by some objects of each class, such as the small ones.

With so few objects, exact scores would tell which results are right. See docs/detail-levels.md.
"""

import math
from dataclasses import replace

from vocboard.app.evaluations.eleven_points import DECIMALS, STEPS
from vocboard.evaluator.scores import Measure

MIN_OBJECTS = 20
STEP_TIMES_OBJECTS = 4  # with 2, of a list of 40 boxes with 4 wrong ones, 14 were certain; see tests/attack


def in_steps(measure: Measure) -> Measure:
    """Return a metric of some objects of each class in steps of at least four objects' worth; others as they are.

    A class with fewer than `MIN_OBJECTS` such objects is undefined, and not in the mean.

    >>> from vocboard.evaluator.editions import Metric
    >>> exact = {"cat": 0.5678, "cow": 0.5678, "dog": 0.5678}
    >>> measure = Measure(Metric.NORMALISED_AP_OCCLUDED, exact, {"cat": 400, "cow": 40, "dog": 19})
    >>> dict(in_steps(measure).per_class)
    {'cat': 0.57, 'cow': 0.6, 'dog': nan}
    """
    if measure.objects is None:
        return measure
    objects = measure.objects
    return replace(
        measure, per_class={name: _coarse(value, objects[name]) for name, value in measure.per_class.items()}
    )


def step(objects: int) -> float:
    """Return the step between two scores by so many objects.

    >>> step(400), step(40), step(20)
    (0.01, 0.1, 0.2)
    """
    return next((width for width in STEPS if width >= STEP_TIMES_OBJECTS / objects), STEPS[-1])


def _coarse(value: float, objects: int) -> float:
    if math.isnan(value) or objects < MIN_OBJECTS:
        return math.nan
    width = step(objects)
    return round(round(value / width) * width, DECIMALS)
