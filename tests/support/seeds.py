"""Random cases by seed: the first in `make test`, all in `make test-all`."""

import pytest
from _pytest.mark import ParameterSet


def seeds(number: int) -> list[int | ParameterSet]:
    """Return the parameters of a test with so many random cases, of which a quarter and at least three run always."""
    first = max(3, number // 4)
    return [*range(first), *(pytest.param(seed, marks=pytest.mark.full) for seed in range(first, number))]
