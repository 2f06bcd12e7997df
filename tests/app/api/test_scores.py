"""Curves as the API gives them: what each kind is of, and by which names its axes go."""

from datetime import UTC, datetime

from vocboard.app.api.exports import curves_of
from vocboard.app.evaluations.visible import VisibleCurve, VisibleEvaluation, VisibleMeasure, VisibleResult
from vocboard.evaluator.editions import Task
from vocboard.evaluator.names import CurveKind


def evaluation_with(curves: dict[str, VisibleCurve]) -> VisibleEvaluation:
    measure = VisibleMeasure("average_precision", {}, None, 0)
    result = VisibleResult("comp1", Task.CLASSIFICATION, (measure,), (), {}, curves, None)
    return VisibleEvaluation(datetime(2026, 1, 1, tzinfo=UTC), 1.0, "1.0", "0" * 64, 1, 1, None, (result,))


def test_a_receiver_operating_characteristic_has_rates_of_positives() -> None:
    curve = VisibleCurve(CurveKind.ROC, ((0.0, 0.0), (0.5, 0.67), (1.0, 1.0)))
    assert curves_of("comp1", evaluation_with({"cars": curve})).model_dump() == {
        "competition": "comp1",
        "kind": "roc",
        "curves": {
            "cars": {
                "false_positive_rate": [0.0, 0.5, 1.0],
                "true_positive_rate": [0.0, 0.67, 1.0],
                "step": None,
                "is_left_out": False,
            }
        },
        "imported": None,
    }


def test_other_competitions_have_recall_and_precision() -> None:
    found = {
        "car": VisibleCurve(CurveKind.PRECISION_RECALL, ((0.5, 1.0), (1.0, 0.67)), step=0.01),
        "dog": VisibleCurve(CurveKind.PRECISION_RECALL, (), is_left_out=True),
    }
    curves = curves_of("comp1", evaluation_with(found)).model_dump()
    assert curves["kind"] == "precision_recall"
    assert curves["curves"] == {
        "car": {"recall": [0.5, 1.0], "precision": [1.0, 0.67], "step": 0.01, "is_left_out": False},
        "dog": {"recall": [], "precision": [], "step": None, "is_left_out": True},
    }


def test_there_are_none_without_an_evaluation_and_of_other_competitions() -> None:
    nothing = {"competition": "comp5", "kind": None, "curves": {}, "imported": None}
    assert curves_of("comp5", None).model_dump() == nothing
    assert curves_of("comp5", evaluation_with({})).model_dump() == nothing
