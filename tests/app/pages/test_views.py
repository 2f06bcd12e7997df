"""Values as pages write and draw them."""

import math
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from lxml import etree
from markupsafe import Markup

from vocboard.app.evaluations.visible import VisibleCurve
from vocboard.app.leaderboards.board import Cell
from vocboard.app.pages import formats
from vocboard.app.pages.charts import Scale, curve_plot, dots
from vocboard.app.pages.reports import report_view, stored
from vocboard.app.pages.results import ConfusionCell
from vocboard.evaluator.names import CurveKind
from vocboard.evaluator.problem_groups import groups_of
from vocboard.evaluator.problems import Problem, Severity


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (0.87345, 4, "87.34"),  # rounds the fraction, as the API does, never the per cent
        (0.87345, 3, "87.3"),
        (1.0, 2, "100"),
        (0.0, 4, "0.00"),
        (None, 4, "n/a"),
        (math.nan, 4, "n/a"),
    ],
)
def test_percent(value: float | None, decimals: int, text: str) -> None:
    assert formats.percent(value, decimals) == text


def test_bars_stay_within_their_frame() -> None:
    assert formats.bar_length(1.5) == "100.0%"
    assert formats.bar_length(-1) == "0.0%"
    assert formats.bar_length(None) == formats.bar_length(math.nan) == "0%"


def test_instants_are_machine_readable_and_in_utc() -> None:
    written = formats.instant(datetime(2026, 3, 1, 12, 5, tzinfo=UTC))
    assert isinstance(written, Markup)
    assert 'datetime="2026-03-01T12:05:00Z"' in written
    assert ">1 Mar 2026, 12:05 UTC<" in written


@pytest.mark.parametrize(
    ("length", "text"),
    [
        (timedelta(days=1), "1 day"),
        (timedelta(hours=36), "36 hours"),
        (timedelta(seconds=90), "90 seconds"),
        (timedelta(0), "0 seconds"),
    ],
)
def test_durations_are_exact(length: timedelta, text: str) -> None:
    assert formats.duration(length) == text


def test_paragraphs_escape_what_people_write() -> None:
    written = formats.paragraphs("One <b>\nline\r\n\r\nTwo & more\n\n\n\n")
    assert written == "<p>One &lt;b&gt;<br>line</p><p>Two &amp; more</p>"


def test_report_keeps_errors_and_warnings_apart_and_causes_together() -> None:
    problems = [
        Problem("a", Severity.ERROR, "First.", "x.txt", 3),
        Problem("b", Severity.WARNING, "Mild.", "x.txt", 1),
        Problem("c", Severity.ERROR, "Whole.", None),
        Problem("a", Severity.ERROR, "Second.", "x.txt", 9),
    ]
    view = report_view(problems, groups_of(problems))
    assert [(group.code, [item.line for item in group.problems]) for group in view.errors] == [
        ("a", [3, 9]),
        ("c", [None]),
    ]
    assert [group.code for group in view.warnings] == ["b"]
    assert (view.counted_errors, view.counted_warnings) == ("3 errors in 1 file", "1 warning in 1 file")
    assert view.text.splitlines() == [
        "x.txt:3: error: First. [a]",
        "x.txt:1: warning: Mild. [b]",
        "archive: error: Whole. [c]",
        "x.txt:9: error: Second. [a]",
    ]
    assert stored([problem.as_json() for problem in problems])[0].problems[0] == problems[0]


@pytest.mark.parametrize(
    ("pixels", "share", "text"),
    [
        (0, 0.0, ""),
        (0, None, ""),
        (3, 0.0003, "·"),
        (5, 0.05, "5.0"),
        (1, 0.0996, "10"),
        (9, 1.0, "100"),
        (None, 0.0, ""),
        (None, 0.05, "5"),
        (None, None, ""),
    ],
)
def test_confusion_cells_are_short(pixels: int | None, share: float | None, text: str) -> None:
    assert ConfusionCell("cat", share, pixels, own=False).text == text


def test_heat_has_eight_steps() -> None:
    assert formats.heat(None) == formats.heat(0.0) == 0
    assert formats.heat(0.01) == 1
    assert formats.heat(0.8) == formats.heat(1.0) == 7


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
