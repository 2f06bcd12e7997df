"""How far the methods of a leaderboard find the same, as it is stored, and shown to organisers."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

AGREEMENT_DECIMALS = 2
LEAST_IMAGES = 10  # in which a method finds something, and in which it misses something; nothing is said of others


@dataclass(frozen=True, slots=True)
class Agreement:
    """What methods have in common.

    Attributes:
        results: ids of `CompetitionResult`, in the order of the rows.
        found: the mean share of the positives of a class in an image that each finds: a fraction, rounded.
        correlations: (m, m) of what two methods find, rounded; None if nothing is said about them.
    """

    results: Sequence[uuid.UUID]
    found: Sequence[float]
    correlations: Sequence[Sequence[float | None]]

    def as_json(self) -> dict[str, Any]:
        """Return all of it in JSON's types; of the correlations only the part above the diagonal."""
        return {
            "results": [str(result) for result in self.results],
            "found": list(self.found),
            "correlations": [list(row[place + 1 :]) for place, row in enumerate(self.correlations)],
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
        return cls([uuid.UUID(result) for result in stored["results"]], stored["found"], rows)
