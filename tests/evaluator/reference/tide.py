"""Kinds of errors of detections, and scores without them, object by object.

With `as_tidecv`, results are matched as by tidecv 1.0.1, which differs in four ways: a result whose best object is
matched already falls back to the best one that is not; results that lie within a difficult object by more than half of
their own area are ignored; ignored results are also counted as errors; and a false positive with an overlap of exactly
one half is one of location.
"""

from collections import Counter
from dataclasses import dataclass, field

from tests.evaluator.reference.detection import Detection, Object
from tests.evaluator.reference.overlap import Box, overlap

HALF, TENTH = 0.5, 0.1


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
    found: dict[str, list[Detection]], objects: dict[str, list[Object]], *, as_tidecv: bool = False
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
            judge(result, here, as_tidecv)
        for result in mine:
            if result.mark == "false" or (as_tidecv and result.mark == "ignored"):
                classify(result, [truth for truth in here if not truth.difficult], as_tidecv)
        truths += [truth for truth in here if not truth.difficult]
    results = [result for _, result in rows]
    return [result for name in found for result in results if result.name == name], truths


def judge(result: Result, here: list[Truth], as_tidecv: bool) -> None:
    """Match a result as the evaluation does, or as tidecv does."""
    same = [truth for truth in here if truth.name == result.name]
    if as_tidecv:
        same = [truth for truth in same if not truth.difficult and not truth.found]
    best = max(same, key=lambda truth: of(result, truth), default=None)
    if best is not None and of(result, best) >= HALF:
        if best.difficult:
            result.mark = "ignored"
        elif best.found:
            result.mark = "false"
        else:
            result.mark, best.found = "true", True
        return
    covered = [
        truth for truth in here if truth.name == result.name and truth.difficult and within(result, truth) > HALF
    ]
    result.mark = "ignored" if as_tidecv and covered else "false"


def classify(result: Result, here: list[Truth], as_tidecv: bool) -> None:
    same = [truth for truth in here if truth.name == result.name]
    others = [truth for truth in here if truth.name != result.name]
    nearest = max(same, key=lambda truth: of(result, truth), default=None)
    other = max(others, key=lambda truth: of(result, truth), default=None)
    mine = of(result, nearest) if nearest else 0.0
    theirs = of(result, other) if other else 0.0
    if TENTH <= mine < HALF or (as_tidecv and mine == HALF):
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


def within(result: Result, truth: Truth) -> float:
    """Return the share of a result's area that lies in an object."""
    (left, top, right, bottom), other = result.box, truth.box
    width = min(right, other[2]) - max(left, other[0]) + 1
    height = min(bottom, other[3]) - max(top, other[1]) + 1
    return width * height / ((right - left + 1) * (bottom - top + 1)) if width > 0 and height > 0 else 0.0
