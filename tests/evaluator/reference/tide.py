"""Kinds of errors of detections, and scores without them, object by object.

tidecv 1.0.1 differs in three rules, each of which can be chosen:

- `DIFFICULT`: difficult objects match nothing, and results on them are errors. (It ignores results that lie within a
  difficult object by more than half of their own area, and still counts what it ignores as errors.)
- `ANOTHER_OBJECT`: a result whose best object is matched already falls back to the best one that is not.
- `EXACT_HALF`: a false positive with an overlap of exactly one half is a localisation error.
"""

from collections import Counter
from dataclasses import dataclass, field

from tests.evaluator.reference.detection import Detection, Object
from tests.evaluator.reference.overlap import Box, overlap

HALF, TENTH = 0.5, 0.1
DIFFICULT, ANOTHER_OBJECT, EXACT_HALF = "difficult", "another object", "exact half"
OURS: frozenset[str] = frozenset()
TIDECV = frozenset({DIFFICULT, ANOTHER_OBJECT, EXACT_HALF})


@dataclass
class Truth:
    name: str
    box: Box
    difficult: bool
    found: bool = False
    near: list["Result"] = field(default_factory=list)  # errors that aim at it


@dataclass
class Result:
    name: str
    confidence: float
    box: Box
    mark: str = ""
    kind: str = ""
    target: Truth | None = None


def judged(
    found: dict[str, list[Detection]], objects: dict[str, list[Object]], rules: frozenset[str] = OURS
) -> tuple[list[Result], list[Truth]]:
    """Return all results by class and rank, and all objects that are not difficult."""
    results, truths = [], []
    rows = [(image, Result(name, confidence, box)) for name in found for image, confidence, box in found[name]]
    rows.sort(key=lambda row: -row[1].confidence)
    images = {image for image, _ in rows} | {image for name in objects for image, _, _ in objects[name]}
    for image in sorted(images):
        here = [Truth(name, box, bad) for name in objects for where, box, bad in objects[name] if where == image]
        mine = [result for where, result in rows if where == image]
        for result in mine:
            judge(result, here, rules)
        for result in mine:
            if result.mark == "false":
                classify(result, [truth for truth in here if not truth.difficult], rules)
        truths += [truth for truth in here if not truth.difficult]
    results = [result for _, result in rows]
    return [result for name in found for result in results if result.name == name], truths


def judge(result: Result, here: list[Truth], rules: frozenset[str]) -> None:
    """Match a result as the evaluation does, but for these rules of tidecv's."""
    same = [truth for truth in here if truth.name == result.name]
    if DIFFICULT in rules:
        same = [truth for truth in same if not truth.difficult]
    if ANOTHER_OBJECT in rules:
        same = [truth for truth in same if not truth.found]
    best = max(same, key=lambda truth: of(result, truth), default=None)
    if best is not None and of(result, best) >= HALF:
        if best.difficult:
            result.mark = "ignored"
        elif best.found:
            result.mark = "false"
        else:
            result.mark, best.found = "true", True
        return
    result.mark = "false"


def classify(result: Result, here: list[Truth], rules: frozenset[str]) -> None:
    same = [truth for truth in here if truth.name == result.name]
    others = [truth for truth in here if truth.name != result.name]
    nearest = max(same, key=lambda truth: of(result, truth), default=None)
    other = max(others, key=lambda truth: of(result, truth), default=None)
    mine = of(result, nearest) if nearest else 0.0
    theirs = of(result, other) if other else 0.0
    if TENTH <= mine < HALF or (EXACT_HALF in rules and mine == HALF):
        result.kind, result.target = "location", nearest
    elif theirs >= HALF:
        result.kind, result.target = "class", other
    elif mine >= HALF:
        result.kind = "duplicate"
    elif max(mine, theirs) <= TENTH:
        result.kind = "background"
    else:
        result.kind = "both"
    if result.target is not None and not result.target.found:
        result.target.near.append(result)


def counts(results: list[Result], truths: list[Truth]) -> Counter[str]:
    """Return the number of errors of each kind."""
    found = Counter(result.kind for result in results if result.kind)
    found["missed"] = sum(1 for truth in truths if not truth.found and not truth.near)
    return found


def marks_without(results: list[Result], truths: list[Truth], name: str, fixed: str | None) -> tuple[list[str], int]:
    """Return the marks of a class by rank, and its number of positives, without errors of a kind."""
    ranked: list[tuple[float, str]] = []
    for result in results:
        mark, given = result.mark, result.name
        if fixed is not None and result.kind == fixed:
            target = result.target
            best = target is not None and bool(target.near) and target.near[0] is result
            mark, given = ("true", target.name) if best and target is not None else ("ignored", given)
        if given == name:
            ranked.append((result.confidence, mark))
    ranked.sort(key=lambda row: -row[0])
    own = [truth for truth in truths if truth.name == name]
    if fixed == "missed":
        own = [truth for truth in own if truth.found or truth.near]
    if fixed == "false_negatives":
        own = [truth for truth in own if truth.found]
    if fixed == "false_positives":
        ranked = [row for row in ranked if row[1] != "false"]
    return [mark for _, mark in ranked], len(own)


def of(result: Result, truth: Truth) -> float:
    return overlap(result.box, truth.box) or 0.0
