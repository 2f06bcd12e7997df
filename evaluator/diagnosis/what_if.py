"""Scores with one kind of error fixed.

Source: D. Bolya, S. Foley, J. Hays and J. Hoffman, "TIDE: A General Toolbox for Identifying Object Detection Errors",
ECCV 2020, section 2.3 and their program. A false positive that misses an unmatched object by its location or class
becomes a true positive, if it is the most confident one of that object; all other false positives of the kind are
removed. Missed objects are those that no such error has as its target; fixing them leaves them out.
"""

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.diagnosis.errors import ERRORS, DiagnosedClasses, Error
from vocboard.evaluator.metrics.precision_recall import Judgement, by_confidence
from vocboard.evaluator.names import Metric
from vocboard.evaluator.rules import Interpolation, TaskRules
from vocboard.evaluator.scores import Measure

MISSED = "missed"
FALSE_POSITIVES, FALSE_NEGATIVES = "false_positives", "false_negatives"  # all of them


class WhatIf:
    """Scores one entry again without some of its errors.

    Args of the constructor:
        diagnosed: the results of each class.
        rules: of the competition.
    """

    def __init__(self, diagnosed: DiagnosedClasses, rules: TaskRules) -> None:
        self._classes, self._class_of, self._names = diagnosed.classes, diagnosed.class_of, diagnosed.names
        self._rules = rules
        self._is_found = np.zeros(len(diagnosed.class_of), dtype=np.bool_)
        for each in self._classes.values():
            self._is_found[each.objects[each.found]] = True
        self._best = self._most_confident()

    def score(self, fixed: str | None = None) -> Measure:
        """Return the average precision of each class without a kind of error; None for the unchanged score."""
        judged = {name: self._judge(name, fixed) for name in self._classes}
        interpolation, zero = self._rules.interpolation, self._rules.without_positives
        if self._rules.metric is Metric.AVERAGE_PRECISION_AREA:
            interpolation = Interpolation.AREA
        scores = {name: each.average_precision(interpolation, zero) for name, each in judged.items()}
        return Measure(self._rules.metric, scores)

    def missed(self, name: str) -> NDArray[np.bool_]:
        """Return (m,) bool: the objects of a class that nothing found, and no localisation or class error aimed at."""
        each = self._classes[name]
        return ~each.found & ~np.isin(each.objects, list(self._best))

    def _judge(self, name: str, fixed: str | None) -> Judgement:
        each = self._classes[name]
        true, keep = each.judgement.true.copy(), each.judgement.true | each.judgement.false
        positives = len(each.objects)
        confidence = each.confidence
        if fixed == MISSED:
            positives -= int(np.count_nonzero(self.missed(name)))
        elif fixed == FALSE_NEGATIVES:
            positives -= int(np.count_nonzero(~each.found))
        elif fixed == FALSE_POSITIVES:
            keep &= true
        elif fixed is not None:
            wrong = each.error == ERRORS.index(Error(fixed))
            keep &= ~wrong
            if fixed == Error.LOCATION:
                corrected = np.array([rank for rank in np.flatnonzero(wrong).tolist() if self._is_best(name, rank)])
                keep[corrected.astype(np.int64)] = True
                true[corrected.astype(np.int64)] = True
            elif fixed == Error.CLASS:
                moved = self._moved_to(name)
                ranked = by_confidence(np.concatenate((confidence[keep], moved)))
                true = np.concatenate((true[keep], np.ones(len(moved), dtype=np.bool_)))[ranked]
                return Judgement(true, ~true, positives)
        return Judgement(true[keep], ~true[keep], positives)

    def _most_confident(self) -> dict[int, tuple[str, int]]:
        """Return, for each object not found, the class and rank of the most confident error that aims at it."""
        best: dict[int, tuple[float, str, int]] = {}
        for name, each in self._classes.items():
            for rank in np.flatnonzero(each.target >= 0).tolist():
                target, confidence = int(each.target[rank]), float(each.confidence[rank])
                if not self._is_found[target] and (target not in best or confidence > best[target][0]):
                    best[target] = confidence, name, rank
        return {target: (name, rank) for target, (_, name, rank) in best.items()}

    def _is_best(self, name: str, rank: int) -> bool:
        return self._best.get(int(self._classes[name].target[rank])) == (name, rank)

    def _moved_to(self, name: str) -> NDArray[np.float64]:
        """Return the confidences of results of other classes that would be true positives of this one."""
        moved = [
            self._classes[given].confidence[rank]
            for target, (given, rank) in self._best.items()
            if given != name and self._names[self._class_of[target]] == name
        ]
        return np.array(moved, dtype=np.float64)
