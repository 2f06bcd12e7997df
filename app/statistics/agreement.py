"""What the methods of a leaderboard have in common and reach together, as it is stored, and shown to organisers."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vocboard.app.statistics.sequences import Change

AGREEMENT_DECIMALS = 2
MIN_IMAGES = 10  # in which a method finds something, and in which it misses something; others are not reported


@dataclass(frozen=True, slots=True)
class Combination:
    """What the first methods of a leaderboard reach together; see `evaluator.statistics.across.RankCombination`.

    Attributes:
        methods: how many of them are combined.
        score: the mean of the combination: a fraction, rounded.
        change: the difference from the first method alone; None if not reported.
    """

    methods: int
    score: float
    change: Change | None


@dataclass(frozen=True, slots=True)
class Agreement:
    """What methods have in common.

    Attributes:
        results: ids of `CompetitionResult`, in the order of the rows.
        found: the mean share of the positives of a class in an image that each finds: a fraction, rounded.
        correlations: (m, m) of what two methods find, rounded; None if not reported.
        combinations: of more and more methods; none where their results cannot be combined.
    """

    results: Sequence[uuid.UUID]
    found: Sequence[float]
    correlations: Sequence[Sequence[float | None]]
    combinations: Sequence[Combination] = ()

    def as_json(self) -> dict[str, Any]:
        """Return all of it in JSON's types; of the correlations only the part above the diagonal."""
        return {
            "results": [str(result) for result in self.results],
            "found": list(self.found),
            "correlations": [list(row[place + 1 :]) for place, row in enumerate(self.correlations)],
            "combinations": [
                [one.methods, one.score, None if one.change is None else one.change.as_json()]
                for one in self.combinations
            ],
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Agreement":
        """Return what `as_json` has written."""
        upper = stored["correlations"]
        number = len(stored["results"])
        rows = [
            [1.0 if one == other else upper[min(one, other)][abs(one - other) - 1] for other in range(number)]
            for one in range(number)
        ]
        combinations = [
            Combination(methods, score, None if change is None else Change.from_json(change))
            for methods, score, change in stored.get("combinations", ())  # frozen leaderboards may have none
        ]
        return cls([uuid.UUID(result) for result in stored["results"]], stored["found"], rows, combinations)
