"""Random cases by seed: a quarter in `make test`, half in `make test-all`, the rest in `make test-long`."""

import pytest
from _pytest.mark import ParameterSet


def seeds(number: int) -> list[int | ParameterSet]:
    """Return the parameters of a test with so many random cases, of which a quarter and at least three run always."""
    first = max(3, number // 4)
    half = max(first, number // 2)
    return [
        *range(first),
        *(pytest.param(seed, marks=pytest.mark.full) for seed in range(first, half)),
        *(pytest.param(seed, marks=pytest.mark.long) for seed in range(half, number)),
    ]
