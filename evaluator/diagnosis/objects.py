"""The errors of results that are matched with objects (detections, regions, parts of layouts), as JSON."""

from typing import Any

import numpy as np

from vocboard.evaluator.diagnosis.errors import ERRORS, Diagnosed, DiagnosedClasses, Error
from vocboard.evaluator.diagnosis.false_positives import kinds_of_first
from vocboard.evaluator.diagnosis.measures import defined
from vocboard.evaluator.diagnosis.what_if import FALSE_NEGATIVES, FALSE_POSITIVES, MISSED, WhatIf
from vocboard.evaluator.scores import Measure

RIGHT, NOT_FOUND = "right", "not_found"
FIXES = (*ERRORS, MISSED, FALSE_POSITIVES, FALSE_NEGATIVES)


def diagnose_objects(diagnosed: DiagnosedClasses, what_if: WhatIf) -> dict[str, Any]:
    """Return the errors, and what the score would be without them, for JSON.

    Args:
        diagnosed: the results of each class.
        what_if: scores the same results again.
    """
    return {
        "errors": _errors(diagnosed, what_if),
        "first_false_positives": {
            name: {kind.value: count for kind, count in kinds_of_first(each).items()}
            for name, each in diagnosed.classes.items()
        },
        "confused_with": {name: _confused_with(each, diagnosed.names) for name, each in diagnosed.classes.items()},
    }


def _errors(diagnosed: DiagnosedClasses, what_if: WhatIf) -> dict[str, Any]:
    score = what_if.score()
    fixed = {fix: what_if.score(fix) for fix in FIXES}
    counts = {
        name: {
            RIGHT: int(np.count_nonzero(each.judgement.true)),
            **{error.value: int(np.count_nonzero(each.error == index)) for index, error in enumerate(ERRORS)},
            MISSED: int(np.count_nonzero(what_if.missed(name))),
            NOT_FOUND: int(np.count_nonzero(~each.found)),
        }
        for name, each in diagnosed.classes.items()
    }
    kinds = (RIGHT, *(error.value for error in Error), MISSED, NOT_FOUND)
    return {
        "counts": {kind: sum(of_class[kind] for of_class in counts.values()) for kind in kinds},
        "score": defined(score.mean),
        "gain": {str(fix): defined(measure.mean - score.mean) for fix, measure in fixed.items()},
        "per_class": {
            name: {
                "counts": counts[name],
                "score": defined(score.per_class[name]),
                "gain": {str(fix): _gain(measure, score, name) for fix, measure in fixed.items()},
            }
            for name in diagnosed.classes
        },
    }


def _gain(fixed: Measure, score: Measure, name: str) -> float | None:
    """Return the gain of a class; None if either score is undefined (without its missed objects, it may have none)."""
    gain: float | None = defined(fixed.per_class[name] - score.per_class[name])
    return gain


def _confused_with(results: Diagnosed, names: tuple[str, ...]) -> dict[str, int]:
    confused = results.other_class[results.error == ERRORS.index(Error.CLASS)]
    counts = np.bincount(confused, minlength=len(names))
    return {names[index]: int(counts[index]) for index in np.argsort(-counts, kind="stable") if counts[index]}
