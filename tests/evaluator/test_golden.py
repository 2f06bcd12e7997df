"""Every score of the development kits on the golden cases, through the public entry points."""

import math
from functools import cache
from typing import Any

import pytest

from tests.support.golden import CASES, CASES_IN_TIERS, golden, golden_truth
from vocboard.evaluator.editions import load
from vocboard.evaluator.evaluation import evaluate
from vocboard.evaluator.ground_truth.reader import read_ground_truth

TOLERANCE = 1e-12


@cache
def evaluation_of(name: str) -> dict[str, Any]:
    case = golden(name)
    return evaluate(case.results, load(case.edition), golden_truth(name)).as_json()


def differences(found: dict[str, float | None], expected: dict[str, str], unit: float = 1.0) -> dict[str, Any]:
    """Classes whose score is not the expected one, with both."""
    wrong = {}
    for name, text in expected.items():
        score, right = found[name], float(text) / unit
        agrees = score is None if math.isnan(right) else score is not None and abs(score - right) <= TOLERANCE
        if not agrees:
            wrong[name] = (score, right)
    return wrong


@pytest.mark.parametrize("name", CASES)
class TestGoldenCase:
    def test_has_every_competition_and_no_error(self, name: str) -> None:
        evaluation = evaluation_of(name)
        assert set(evaluation["competitions"]) >= set(golden(name).expected())  # of 2009's layout there is no kit
        assert not [problem for problem in evaluation["problems"] if problem["severity"] == "error"]

    def test_average_precision_is_the_kits(self, name: str) -> None:
        for key, expected in golden(name).expected().items():
            if "ap" in expected:
                found = evaluation_of(name)["competitions"][key]
                assert set(found["per_class"]) == set(expected["ap"])
                assert differences(found["per_class"], expected["ap"]) == {}, key

    def test_area_under_the_roc_is_the_kits(self, name: str) -> None:
        for key, expected in golden(name).expected().items():
            if "auc" in expected:
                found = evaluation_of(name)["competitions"][key]
                assert found["metric"] == "roc_auc"
                assert set(found["per_class"]) == set(expected["auc"])
                assert differences(found["per_class"], expected["auc"]) == {}, key

    def test_detections_counts_and_curves_end_where_the_kits_do(self, name: str) -> None:
        for key, expected in golden(name).expected().items():
            details = evaluation_of(name)["competitions"][key]["details"]
            if "detections" in expected:
                assert {c: d["results"] for c, d in details.items()} == expected["detections"]
            for last in ("final_recall", "final_precision"):
                if last in expected:
                    values = expected[last] if isinstance(expected[last], dict) else {"person": expected[last]}
                    exact = {c: None if math.isnan(float(v)) else float(v) for c, v in values.items()}
                    assert {c: details[c][last] for c in exact} == exact, (key, last)

    def test_area_under_curve_is_the_one_of_2010(self, name: str) -> None:
        for key, expected in golden(name).expected().items():
            if "area_under_curve" in expected:
                found = evaluation_of(name)["competitions"][key]
                area = found["secondary"].get("area_under_curve", found)  # from 2010 on it is the primary one
                assert differences(area["per_class"], expected["area_under_curve"]) == {}, key

    def test_segmentation_is_the_kits(self, name: str) -> None:
        for key, expected in golden(name).expected().items():
            if "accuracy_percent" in expected:
                found = evaluation_of(name)["competitions"][key]
                rows = [[int(pixels) for pixels in row] for row in expected["confusion_rows_truth_columns_predicted"]]
                assert found["confusion_matrix"] == rows
                assert differences(found["per_class"], expected["accuracy_percent"], unit=100) == {}
                assert found["mean_over"] == 21
                assert found["mean"] == pytest.approx(float(expected["average_percent"]) / 100, abs=TOLERANCE)


@pytest.mark.parametrize("name", CASES_IN_TIERS)
def test_scores_are_the_same_from_stored_ground_truth(name: str) -> None:
    """The other tests use stored ground truth."""
    case, edition = golden(name), load(golden(name).edition)
    read = read_ground_truth(case.ground_truth, edition)
    assert read.sha256 == golden_truth(name).sha256
    assert evaluate(case.results, edition, read).as_json() == evaluation_of(name)
