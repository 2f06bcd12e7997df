"""Drawings of comparisons: nothing covers anything else, and everything is within its frame."""

import numpy as np
import pytest

from vocboard.app.leaderboards.board import Cell
from vocboard.app.pages.comparison_drawings import Scale, dots, lines


def cell(value: float | None) -> Cell:
    return Cell(value, True, False, 3 if value is not None else None)


def test_equal_scores_are_dots_above_each_other() -> None:
    found = dots([cell(0.5), cell(None), cell(0.5), cell(0.5), cell(0.9)], Scale.over([0.5, 0.9]))
    assert [dot.series for dot in found] == [0, 2, 3, 4]
    assert len({(dot.x, dot.shift) for dot in found}) == 4
    assert len({dot.x for dot in found[:3]}) == 1
    assert found[3].shift == 0


def test_equal_lines_are_dashed_in_turn_so_that_each_is_seen() -> None:
    points = [(0.0, 1.0), (0.5, 0.8), (1.0, 0.1)]
    found = lines({0: points, 1: points, 2: points, 3: [(0.0, 0.5), (1.0, 0.2)]})
    alike = [piece for line in found[:3] for piece in line.pieces]
    assert len(alike) == 3
    assert len({piece.points for piece in alike}) == 1
    dash, gap = map(int, alike[0].dash.split())
    assert gap == 2 * dash  # room for the two others
    assert [piece.offset for piece in alike] == [0, -dash, -2 * dash]
    [other] = found[3].pieces
    assert other.dash == ""


def test_lines_that_are_equal_at_first_are_dashed_only_there() -> None:
    one, other = lines({0: [(0.0, 1.0), (0.5, 1.0), (1.0, 0.2)], 1: [(0.0, 1.0), (0.5, 1.0), (1.0, 0.4)]})
    assert [bool(piece.dash) for piece in one.pieces] == [True, False]
    assert [piece.offset for piece in other.pieces] == [-9, 0]
    assert one.pieces[0].points == other.pieces[0].points
    assert one.pieces[1].points.split()[0] == one.pieces[0].points.split()[-1]
    assert one.marks.count("M") == 1  # where it is alone


def test_the_second_six_methods_have_dashed_lines() -> None:
    found = lines({series: [(0.0, series / 20), (1.0, 0.0)] for series in range(12)})
    assert [bool(line.pieces[0].dash) for line in found] == [False] * 6 + [True] * 6


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
