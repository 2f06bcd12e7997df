"""Curves as the API gives them: what each kind is of, and by which names its axes go."""

import numpy as np

from app.api.scores import curves_of
from evaluator.scores import Curve, RocCurve


def test_a_receiver_operating_characteristic_has_rates_of_positives() -> None:
    curve = RocCurve(np.array([0.0, 1 / 3, 1.0]), np.array([0.0, 2 / 3, 1.0]))
    assert curves_of("comp1", {"cars": curve}, 4).model_dump() == {
        "competition": "comp1",
        "kind": "roc",
        "curves": {
            "cars": {
                "false_positive_rate": [0, 0.3333, 0.3333, 1, 1],
                "true_positive_rate": [0, 0, 0.6667, 0.6667, 1],
            }
        },
    }


def test_other_competitions_have_recall_and_precision() -> None:
    curves = curves_of("comp3", {"car": Curve(np.array([0.5, 1.0]), np.array([1.0, 2 / 3]))}, 4).model_dump()
    assert curves["kind"] == "precision_recall"
    assert curves["curves"] == {"car": {"recall": [0.5, 1.0], "precision": [1.0, 0.6667]}}


def test_segmentation_has_none() -> None:
    assert curves_of("comp5", {}, 4).model_dump() == {"competition": "comp5", "kind": None, "curves": {}}
