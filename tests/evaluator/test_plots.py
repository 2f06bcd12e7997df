"""Plots of curves: every line is seen, whatever it lies on."""

import re
from collections.abc import Mapping, Sequence

import numpy as np
from lxml import etree

from vocboard.evaluator.plots import LARGE, Line, plot, plot_file

Points = Sequence[tuple[float, float]]


def drawn(curves: Mapping[int, Points]) -> list[etree._Element]:
    lines = [Line.through(f"line {series}", points, series) for series, points in curves.items()]
    svg = etree.fromstring(plot(lines, "<Title>", ("recall", "precision"), LARGE))
    return [svg.find(f"g[@class='s{series}']") for series in curves]


def test_equal_lines_are_dashed_in_turn_so_that_each_is_seen() -> None:
    points = [(0.0, 1.0), (0.5, 0.8), (1.0, 0.1)]
    *alike, other = drawn({0: points, 1: points, 2: points, 3: [(0.0, 0.5), (1.0, 0.2)]})
    pieces = [piece for line in alike for piece in line.iterfind("polyline")]
    assert len(pieces) == 3
    assert len({piece.get("points") for piece in pieces}) == 1
    dash, gap = map(int, pieces[0].get("stroke-dasharray").split())
    assert gap == 2 * dash  # room for the two others
    assert [int(piece.get("stroke-dashoffset")) for piece in pieces] == [0, -dash, -2 * dash]
    assert [piece.get("stroke-dasharray") for piece in other.iterfind("polyline")] == [None]


def test_lines_that_are_equal_at_first_are_dashed_only_there() -> None:
    one, other = drawn({0: [(0.0, 1.0), (0.5, 1.0), (1.0, 0.2)], 1: [(0.0, 1.0), (0.5, 1.0), (1.0, 0.4)]})
    first, second = one.findall("polyline")
    assert [bool(piece.get("stroke-dasharray")) for piece in (first, second)] == [True, False]
    assert first.get("points") == other.findall("polyline")[0].get("points")
    assert second.get("points").split()[0] == first.get("points").split()[-1]
    assert one.find("path[@class='marks']").get("d").count("M") == 1  # where it is alone


def test_the_second_six_methods_have_dashed_lines() -> None:
    found = drawn({series: [(0.0, series / 20), (1.0, 0.0)] for series in range(12)})
    dashed = [bool(line.find("polyline").get("stroke-dasharray")) for line in found]
    assert dashed == [False] * 6 + [True] * 6


def test_the_grid_spans_the_plot_with_its_ticks() -> None:
    svg = etree.fromstring(plot([Line.through("line", [(0.0, 0.0), (1.0, 1.0)], 0)], "Title", ("recall", "precision")))
    corners = [tuple(map(float, point.split(","))) for point in svg.find("g/polyline").get("points").split()]
    (left, bottom), (right, top) = corners[0], corners[-1]
    grid = [tuple(map(float, re.findall(r"[\d.]+", path.get("d")))) for path in svg.iterfind("path[@class='grid']")]
    assert {(down, up, start, end) for _, down, up, start, _, end in grid} == {(top, bottom, left, right)}
    assert {x for x, *_ in grid} >= {left, right}
    assert {row[4] for row in grid} >= {top, bottom}


def test_a_long_curve_has_few_points_and_keeps_its_extremes() -> None:
    random = np.random.default_rng(1)
    recall = np.sort(random.random(50_000))
    precision = np.concatenate([[np.nan], random.random(49_998), [0.0]])
    text = plot_file([Line("car", recall, precision)], "car: 50.00 %", ("recall", "precision"))
    svg = etree.fromstring(text.encode())
    points = [piece.get("points") for piece in svg.iter("{*}polyline")]
    assert len(points) == 1
    heights = [float(point.partition(",")[2]) for point in points[0].split()]
    assert (min(heights), max(heights)) == (8, 158)
    assert 100 < len(heights) <= 50_000
