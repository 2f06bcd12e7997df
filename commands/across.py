"""Output of `vocboard compare --across`: hard and easy images, agreement of methods, and what they reach together."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vocboard.client.terminal import printable
from vocboard.commands.comparison_tables import ends
from vocboard.commands.score_tables import INTERVAL, UNDEFINED, percentage
from vocboard.commands.tables import Column, render
from vocboard.evaluator.editions import Competition, Edition
from vocboard.evaluator.evidence.evidence import Evidence, EvidenceByClass
from vocboard.evaluator.evidence.weights import draw_weights
from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.statistics.across import Difficulty, agreement, combined, difficulty
from vocboard.evaluator.statistics.bootstrap import replicate
from vocboard.evaluator.statistics.comparison import Difference, compare
from vocboard.evaluator.statistics.found import found as found_by
from vocboard.evaluator.statistics.intervals import ReplicatedScore
from vocboard.evaluator.tasks.definitions import METRICS

MAX_IMAGES = 10  # of the hardest and of the easiest, in the terminal


@dataclass(frozen=True, slots=True)
class Combination:
    """Score of the mean of normalised ranks.

    Attributes:
        difference: its score minus that of the best method, on the same replicates.
    """

    score: float
    difference: Difference


@dataclass(frozen=True, eq=False, slots=True)
class Across:
    """Objects that several methods find.

    Attributes:
        methods: the best first.
        names: of the images.
        agreement: (m, m) correlations.
        combination: None where results of methods cannot be matched, and for a single method.
    """

    methods: tuple[str, ...]
    names: Sequence[str]
    difficulty: Difficulty
    agreement: np.ndarray[Any, np.dtype[np.float64]]
    combination: Combination | None

    def as_json(self) -> dict[str, Any]:
        """Return everything for JSON; images by what methods find of them, the hardest first."""
        found = self.difficulty.images
        return {
            "images": [
                {"image": self.names[image], "found": float(found[image])} for image in _by_difficulty(self.difficulty)
            ],
            "found_in_tenths": self.difficulty.histogram,
            "classes": {
                name: {"images": one.images, "found": one.found, "by_none": one.by_none, "by_all": one.by_all}
                for name, one in self.difficulty.classes.items()
            },
            "agreement": [[None if np.isnan(value) else value for value in row] for row in self.agreement.tolist()],
            "combination": None
            if self.combination is None
            else {"score": self.combination.score, **self.combination.difference.as_json()},
        }


def across(
    evidence: Mapping[str, Evidence],
    scores: Mapping[str, ReplicatedScore],
    methods: Sequence[str],
    *,
    edition: Edition,
    competition: Competition,
    images: ImageSet,
    class_name: str | None,
) -> Across:
    """Return what several methods find.

    Args:
        evidence: by method.
        scores: that are compared.
        methods: their names, the best first.
        images: of the competition.
        class_name: the only class to look at; None for all.
    """
    found = []
    for method in methods:
        shares = found_by(evidence[method], edition, competition)
        found.append(shares if class_name is None else {class_name: shares[class_name]})
    combination = combined([_only(evidence[method], class_name) for method in methods]) if len(methods) > 1 else None
    return Across(
        tuple(methods),
        images.images,
        difficulty(found),
        agreement(found),
        None if combination is None else _scored(combination, scores[methods[0]], edition, competition, class_name),
    )


def _only(evidence: Evidence, class_name: str | None) -> Evidence:
    if class_name is None or not isinstance(evidence, EvidenceByClass):
        return evidence
    return EvidenceByClass(evidence.images, {class_name: evidence.classes[class_name]})


def _scored(
    combination: Evidence, best: ReplicatedScore, edition: Edition, competition: Competition, class_name: str | None
) -> Combination:
    weights = draw_weights(combination.images)
    measure = replicate(combination, competition.rules.metric, edition, competition, weights)
    score = measure.mean if class_name is None else measure.of_class(class_name)
    found = compare(
        {"combination": score, "best": best}, higher_is_better=METRICS[competition.rules.metric].higher_is_better
    )
    [(pair, difference)] = found.differences.items()
    if pair[0] == "best":
        difference = Difference(-difference.difference, -difference.high, -difference.low, difference.p_value)
    return Combination(score.score, difference)


def _by_difficulty(found: Difficulty) -> list[int]:
    """Return the images with positives, the hardest first, equal ones in the order of the image set."""
    order = np.argsort(found.images, kind="stable")
    return [int(image) for image in order if not np.isnan(found.images[image])]


def lines(found: Across) -> Iterator[str]:
    """Yield what the terminal shows."""
    order = _by_difficulty(found.difficulty)
    hardest, easiest = order[:MAX_IMAGES], order[::-1][:MAX_IMAGES]
    share = found.difficulty.images
    yield ""
    yield "images of whose positives the methods find least and most, and the mean share that they find"
    yield render(
        [
            Column("hardest", [printable(found.names[image]) for image in hardest]),
            Column("found, %", [percentage(share[image], 0) for image in hardest], right=True),
            Column("easiest", [printable(found.names[image]) for image in easiest]),
            Column("found, %", [percentage(share[image], 0) for image in easiest], right=True),
        ]
    )
    if found.difficulty.classes:
        classes = found.difficulty.classes
        yield ""
        yield "of the images that show a class, in which no method finds anything of it, and every method everything"
        yield render(
            [
                Column("class", list(classes)),
                Column("images", [str(one.images) for one in classes.values()], right=True),
                Column("mean found, %", [percentage(one.found, 0) for one in classes.values()], right=True),
                Column("by none, %", [percentage(one.by_none, 0) for one in classes.values()], right=True),
                Column("by all, %", [percentage(one.by_all, 0) for one in classes.values()], right=True),
            ]
        )
    if len(found.methods) > 1:
        yield ""
        yield "agreement: correlation of what two methods find"
        numbers = [str(number) for number in range(1, len(found.methods) + 1)]
        named = [f"{number} {printable(name)}" for number, name in zip(numbers, found.methods, strict=True)]
        texts = [
            [UNDEFINED if np.isnan(value) else f"{value:.2f}" for value in row] for row in found.agreement.tolist()
        ]
        columns = [
            Column(number, list(cells), right=True)
            for number, cells in zip(numbers, zip(*texts, strict=True), strict=True)
        ]
        yield render([Column("", named), *columns])
    if found.combination is not None:
        one = found.combination.difference
        significance = "" if one.is_significant else ", not significant"
        yield ""
        yield f"mean of normalised ranks of all {len(found.methods)}: {percentage(found.combination.score)} %"
        yield (f"minus the best method: {percentage(one.difference)} points ({INTERVAL} {ends(one)}{significance})")
