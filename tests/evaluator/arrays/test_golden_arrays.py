"""Results in memory have exactly the scores that the same results have in files."""

from dataclasses import fields
from typing import Any

import pytest

import vocboard
from tests.evaluator.arrays.from_files import arrays_of
from tests.support.golden import CASES_IN_TIERS, golden, golden_truth


def without_problems(evaluation: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in evaluation.items() if key != "problems"}


@pytest.mark.parametrize("name", CASES_IN_TIERS)
def test_arrays_have_the_scores_of_the_files(name: str) -> None:
    case = golden(name)
    edition = vocboard.load_edition(case.edition)
    truth = golden_truth(name)
    files = vocboard.evaluate(case.results, edition, truth)
    arrays = arrays_of(case.results, edition)
    assert set(arrays) == set(files) | set(files.unavailable)

    memory = vocboard.evaluate(arrays, edition, truth)

    assert without_problems(memory.to_dict()) == without_problems(files.to_dict())
    for key, result in files.items():
        for name_of_class, curve in result.curves.items():
            other = memory[key].curve(name_of_class)
            for axis in (field.name for field in fields(curve)):
                assert getattr(curve, axis).tobytes() == getattr(other, axis).tobytes()
