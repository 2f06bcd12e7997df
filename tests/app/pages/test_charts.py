"""Charts on pages: nothing covers anything else, and everything is within its frame."""

import numpy as np
import pytest
from lxml import etree

from vocboard.app.evaluations.visible import VisibleCurve
from vocboard.app.leaderboards.board import Cell
from vocboard.app.pages.charts import Scale, curve_plot, dots
from vocboard.evaluator.metrics.shared_metrics import CurveKind


def cell(value: float | None) -> Cell:
    return Cell(value, True, False, 3 if value is not None else None)


def test_equal_scores_are_dots_above_each_other() -> None:
    found = dots([cell(0.5), cell(None), cell(0.5), cell(0.5), cell(0.9)], Scale.over([0.5, 0.9]))
    assert [dot.series for dot in found] == [0, 2, 3, 4]
    assert len({(dot.x, dot.shift) for dot in found}) == 4
    assert len({dot.x for dot in found[:3]}) == 1
    assert found[3].shift == 0


@pytest.mark.parametrize("kind", CurveKind)
def test_a_plot_reads_all_curves_out_and_has_the_same_as_a_table(kind: CurveKind) -> None:
    eleven = [round(0.1 * place, 1) for place in range(11)]
    falling = VisibleCurve(kind, tuple((at, round(0.9 - 0.08 * at, 2)) for at in eleven), 0.01)
    short = VisibleCurve(kind, ((0.1, 1.0), (0.4, 1.0), (0.4, 0.5)))
    found = curve_plot(
        {0: ("bus & coach", falling), 1: ("car", short), 2: ("cat", VisibleCurve(kind, ()))}, kind, "Title"
    )
    assert found is not None
    assert found.names == ((0, "bus & coach"), (1, "car"))
    assert [at for at, _ in found.readings] == [f"{10 * place}" for place in range(11)]
    assert found.readings[4] == ("40", ("87.0", "100.0"))
    assert found.readings[10] == ("100", ("82.0", "–"))
    svg = etree.fromstring(str(found.drawing))
    assert svg.findtext("title") == "Title"
    said = [title.text for title in svg.iterfind("g[@class='reading']/title")]
    assert said[4] == f"{found.axes[0]} 40 %\nbus & coach 87.0 %\ncar 100.0 %"
    assert curve_plot({2: ("cat", VisibleCurve(kind, ()))}, kind, "Title") is None


@pytest.mark.parametrize("values", [[], [0.0], [1.0], [0.5, 0.5], [0.731, 0.734], [0.02, 0.98], [1.0, 0.0]])
def test_a_scale_holds_all_values_and_has_few_ticks(values: list[float]) -> None:
    scale = Scale.over(values)
    assert 2 <= len(scale.ticks) <= 8
    assert scale.low == scale.ticks[0] < scale.ticks[-1] == scale.high
    for value in values:
        assert scale.low <= value <= scale.high
        assert 0 <= float(scale.at(value).removesuffix("%")) <= 100


def test_random_scores_stay_in_the_strip() -> None:
    random = np.random.default_rng(3)
    for _ in range(200):
        values = random.random(12).round(2).tolist()
        scale = Scale.over(values)
        found = dots([cell(value) for value in values], scale)
        assert len({(dot.x, dot.shift) for dot in found}) == 12
        assert all(0 <= float(dot.x.removesuffix("%")) <= 100 for dot in found)
