"""Ranks over all leaderboards of a phase: what is compared, ties, and who is left out."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from types import MappingProxyType
from uuid import UUID, uuid4

import pytest

from vocboard.app.challenges.models import OverallRank
from vocboard.app.leaderboards.board import Board
from vocboard.app.leaderboards.entries import Entry, MethodLinks
from vocboard.app.leaderboards.participation import overall, participants
from vocboard.app.leaderboards.ranked_rows import RankedRows
from vocboard.app.leaderboards.statistics import MethodStatistics
from vocboard.app.submissions.models import Declared
from vocboard.evaluator.editions import Metric, load
from vocboard.evaluator.rules import Training
from vocboard.evaluator.tasks.definitions import METRICS

VOC2012 = load("VOC2012").competitions


def board(
    key: str,
    means: Mapping[str, float | None],
    *,
    partial: str = "",
    ranges: Mapping[str, tuple[int, int]] = MappingProxyType({}),
    methods: Mapping[str, UUID] = MappingProxyType({}),
) -> Board:
    entries = [
        Entry(
            submission_id=uuid4(),
            method=method.partition(" of ")[0],
            contributors=method.partition(" of ")[2],
            affiliation="",
            declared=Declared(),
            submitted_at=datetime(2026, 1, 1, tzinfo=UTC),
            mean=mean,
            mean_over=20,
            is_complete=method != partial,
            classes={},
            others={},
            result_id=uuid4(),
            links=MethodLinks(methods.get(method), "", ""),
        )
        for method, mean in means.items()
    ]
    known = {
        entry.result_id: MethodStatistics(None, {}, ranges[entry.method], False)
        for entry in entries
        if entry.result_id and entry.method in ranges
    }
    rows = RankedRows(tuple(entries), VOC2012[key], (), decimals=2, statistics=known)
    return Board("slug", "Title", "main", VOC2012[key], VOC2012[key].rules.metric, (), 2, rows)


def found(by: OverallRank, *boards: Board) -> dict[Training, dict[str, tuple[float, int]]]:
    methods = participants(boards)
    return {
        training: {methods[place].method: (one.value, one.rank) for place, one in ranked.items()}
        for training, ranked in overall(boards, methods, by).items()
    }


CLASSIFICATION = board("comp1", {"A": 0.8, "B": 0.6, "C": 0.4, "Partial": 0.9, "Undefined": None}, partial="Partial")
DETECTION = board("comp3", {"A": 0.4, "B": 0.5, "C": 0.5, "Partial": 0.1, "Undefined": 0.2, "Alone": 0.3})
ANY = board("comp2", {"A": 0.1})


def test_the_mean_rank_is_of_methods_that_are_ranked_and_complete_on_all() -> None:
    assert found(OverallRank.MEAN_RANK, CLASSIFICATION, ANY, DETECTION) == {
        Training.TRAINVAL: {"A": (2.0, 2), "B": (1.5, 1), "C": (2.0, 2)}  # one leaderboard for any data: no mean
    }


def test_scores_are_compared_with_the_best_of_their_leaderboard() -> None:
    expected = {"A": ((1 + 0.8) / 2, 1), "B": ((0.75 + 1) / 2, 2), "C": ((0.5 + 1) / 2, 3)}
    assert found(OverallRank.MEAN_SCORE, CLASSIFICATION, DETECTION) == {Training.TRAINVAL: expected}


def test_where_lower_is_better_the_best_is_divided_by_the_score(monkeypatch: pytest.MonkeyPatch) -> None:
    for key in ("comp1", "comp3"):
        metric: Metric = VOC2012[key].rules.metric
        monkeypatch.setitem(METRICS, metric, replace(METRICS[metric], higher_is_better=False))
    first, second = board("comp1", {"A": 0.2, "B": 0.4}), board("comp3", {"A": 0.0, "B": 0.0})
    assert found(OverallRank.MEAN_SCORE, first, second) == {Training.TRAINVAL: {"A": (1.0, 1), "B": (0.75, 2)}}


def test_equal_values_as_shown_share_a_rank() -> None:
    first, second = board("comp1", {"A": 0.5, "B": 0.4999}), board("comp3", {"A": 0.7, "B": 0.7})
    assert found(OverallRank.MEAN_SCORE, first, second) == {Training.TRAINVAL: {"A": (1.0, 1), "B": (1.0, 1)}}


def test_the_rank_ranges_of_all_leaderboards_limit_a_mean_rank() -> None:
    first = board("comp1", {"A": 0.8, "B": 0.7, "C": 0.1}, ranges={"A": (1, 2), "B": (1, 2), "C": (3, 3)})
    second = board("comp3", {"A": 0.8, "B": 0.7, "C": 0.6}, ranges={"A": (1, 1), "B": (2, 3)})  # none of C
    methods = participants([first, second])
    for by, expected in ((OverallRank.MEAN_RANK, [(1.0, 1.5), (1.5, 2.5), None]), (OverallRank.MEAN_SCORE, [None] * 3)):
        [ranked] = overall([first, second], methods, by).values()
        assert [ranked[place].limits for place in sorted(ranked, key=lambda place: methods[place].method)] == expected


def test_versions_of_a_method_are_one_whoever_contributed_and_methods_of_one_name_are_not() -> None:
    one, other = uuid4(), uuid4()
    first = board("comp1", {"A of Ada": 0.8, "B": 0.6}, methods={"A of Ada": one, "B": other})
    second = board("comp3", {"A of Ada, Bob": 0.4, "B": 0.5}, methods={"A of Ada, Bob": one, "B": uuid4()})
    assert found(OverallRank.MEAN_RANK, first, second) == {Training.TRAINVAL: {"A": (1.5, 1)}}


def test_nothing_is_ranked_unless_organisers_say_so() -> None:
    assert found(OverallRank.NONE, CLASSIFICATION, DETECTION) == {}
