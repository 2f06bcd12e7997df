"""Exports curves at full precision: one CSV per class, and all of them as JSON."""

import csv
import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.evaluation import Evaluation
from vocboard.evaluator.plots import Line, plot_file
from vocboard.evaluator.scores import AnyCurve, Curve
from vocboard.evaluator.whole_output import whole_directory

JSON_NAME = "curves.json"

Points = NDArray[np.float64]


def axes_of(curve: AnyCurve) -> tuple[tuple[str, Points], tuple[str, Points]]:
    """Return the names and values of a curve's axes, the horizontal one first."""
    if isinstance(curve, Curve):
        return ("recall", curve.recall), ("precision", curve.precision)
    return ("false_positive_rate", curve.false_positive_rate), ("true_positive_rate", curve.true_positive_rate)


def f_measure(curve: Curve) -> Points:
    """Return (n,) the harmonic mean of precision and recall at each rank; NaN where either is, 0 where both are 0.

    Source: VOC2010 document, section 9.6.3, VOCevallayout_f.

    >>> f_measure(Curve(np.array([0.0, 0.5]), np.array([0.0, 1.0]))).round(3).tolist()
    [0.0, 0.667]
    """
    total = curve.recall + curve.precision
    return np.divide(2 * curve.recall * curve.precision, total, out=np.where(total == 0, 0.0, np.nan), where=total > 0)


def write_curves(evaluations: Mapping[str, Evaluation], output: Path) -> int:
    """Write the curves of all competitions to a directory; return their number.

    `<image set>/<competition>/<class>.csv` has one line per rank, and `<class>.svg` is a plot; `curves.json` has the
    same numbers by image set, competition and class. Undefined values are empty in CSV and null in JSON.

    Raises:
        OutputExistsError: `output` exists and was not written by vocboard.
        OSError: it cannot be written.
    """
    document: dict[str, Any] = {}
    count = 0
    with whole_directory(output, "curves") as directory:
        for image_set, evaluation in evaluations.items():
            for key, scores in evaluation.scores.items():
                for name, curve in scores.curves.items():
                    columns = dict(_columns(curve))
                    folder = directory / image_set / key
                    folder.mkdir(parents=True, exist_ok=True)
                    with (folder / f"{name}.csv").open("w", newline="") as file:
                        writer = csv.writer(file, lineterminator="\n")
                        writer.writerow(columns)
                        writer.writerows(zip(*columns.values(), strict=True))
                    drawn = _plot(curve, f"{name}, {key}", scores.primary.per_class[name])
                    (folder / f"{name}.svg").write_text(drawn, encoding="utf-8")
                    document.setdefault(image_set, {}).setdefault(key, {})[name] = {
                        "kind": curve.kind.value,
                        **{axis: list(values) for axis, values in columns.items()},
                    }
                    count += 1
        (directory / JSON_NAME).write_text(json.dumps(document, allow_nan=False) + "\n")
    return count


def _plot(curve: AnyCurve, title: str, score: float) -> str:
    (x_name, x), (y_name, y) = axes_of(curve)
    shown = "" if math.isnan(score) else f": {100 * score:.2f} %"
    return plot_file([Line(title, x, y)], f"{title}{shown}", (x_name.replace("_", " "), y_name.replace("_", " ")))


def _columns(curve: AnyCurve) -> Iterator[tuple[str, list[float | None]]]:
    for name, values in axes_of(curve):
        yield name, [None if math.isnan(value) else value for value in values.tolist()]
