"""Ranks, and the rank that a result would get."""

import random
import uuid
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from vocboard.app.leaderboards.board import Board
from vocboard.app.leaderboards.entries import Entry
from vocboard.app.leaderboards.placement import Published, Result, placement
from vocboard.app.leaderboards.ranked_rows import RankedRows
from vocboard.app.leaderboards.ranking import Standing, order, ranks
from vocboard.app.leaderboards.statistics import MethodStatistics
from vocboard.app.submissions.models import Declared
from vocboard.evaluator.editions import load

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def standing(mean: float | None, *, minutes: int = 0, is_complete: bool = True) -> Standing:
    return Standing(mean, is_complete, NOON + timedelta(minutes=minutes))


def test_equal_means_share_a_rank_and_the_earlier_is_listed_first() -> None:
    standings = [standing(0.5, minutes=2), standing(0.7), standing(0.5, minutes=1), standing(0.4), standing(None)]
    assert order(standings, higher_is_better=True) == [1, 2, 0, 3, 4]
    assert ranks([standings[index] for index in (1, 2, 0, 3, 4)]) == [1, 2, 2, 4, None]
    in_part = [standing(0.5, is_complete=False), standing(0.5, is_complete=False)]
    assert ranks([standing(0.5), *in_part]) == [1, 2, 2]


def test_undefined_means_are_last_and_have_no_rank() -> None:
    standings = [standing(None, minutes=-5), standing(0.0), standing(0.1)]
    assert order(standings, higher_is_better=True) == [2, 1, 0]
    assert ranks([standings[index] for index in order(standings, higher_is_better=True)]) == [1, 2, None]


def test_entering_one_easy_class_does_not_lead() -> None:
    assert order([standing(0.99, is_complete=False), standing(0.4), standing(None)], higher_is_better=True) == [1, 0, 2]


def test_of_errors_the_lower_is_better() -> None:
    standings = [standing(0.3), standing(0.1), standing(None), standing(0.05, is_complete=False)]
    assert order(standings, higher_is_better=False) == [1, 0, 3, 2]


COMPETITION = load("VOC2012").competitions["comp3"]
CLASSES = COMPETITION.classes[:2]


def entry(mean: float | None, *, minutes: int = 0, is_complete: bool = True, **classes: float) -> Entry:
    return Entry(
        submission_id=uuid.uuid4(),
        method="Method",
        contributors="",
        affiliation="",
        declared=Declared(),
        submitted_at=NOON + timedelta(minutes=minutes),
        mean=mean,
        mean_over=2,
        is_complete=is_complete,
        classes=classes,
        others={},
    )


def board(entries: list[Entry], *, frozen_at: datetime | None = None, decimals: int = 4) -> Board:
    return Board(
        challenge="c",
        challenge_title="C",
        phase="main",
        competition=COMPETITION,
        metric=COMPETITION.rules.metric,
        classes=CLASSES,
        decimals=decimals,
        rows=RankedRows(entries, COMPETITION, CLASSES, decimals=decimals),
        frozen_at=frozen_at,
    )


def result_of(one: Entry, *replaces: uuid.UUID) -> Result:
    return Result(one.submission_id, one.mean, one.is_complete, one.submitted_at, frozenset(replaces))


def test_it_gets_the_rank_that_was_foretold() -> None:
    chance = random.Random(12)

    def any_entry(minutes: int) -> Entry:
        mean = chance.choice([None, *(number / 8 for number in range(9))])  # with many ties
        return entry(mean, minutes=minutes, is_complete=chance.random() < 0.8)

    for _ in range(300):
        others = [any_entry(minutes) for minutes in range(chance.randrange(12))]
        new = any_entry(chance.randrange(100, 200))
        old = chance.choice(others) if others and chance.random() < 0.5 else None
        replaced = [] if old is None else [old.submission_id]
        foretold = placement(board(others), result_of(new, *replaced))
        published = [one for one in others if one is not old] + [new]
        shown = placement(board(published), result_of(new))
        assert (foretold.place, shown.place is not None) == (None, True)
        assert (foretold.rank, foretold.mean, foretold.classes) == (shown.rank, shown.mean, shown.classes)
        assert foretold.count == shown.count == len(published)


def test_the_best_and_the_median_are_of_the_other_methods_as_shown() -> None:
    car, dog = CLASSES
    own = entry(0.99, **{car: 0.99})
    old = entry(0.95, **{car: 0.95})
    others = [
        entry(0.91111, is_complete=False, **{car: 0.91111}),
        entry(0.40004, **{car: 0.40004, dog: 0.1201}),
        entry(0.30004, **{car: 0.30003, dog: 0.11}),
    ]
    found = placement(board([own, old, *others]), result_of(own, old.submission_id))
    assert found.mean == Published(best=0.4, median=0.4), "the mean of an incomplete entry is never the best"
    assert found.classes == {car: Published(0.9111, 0.4), dog: Published(0.1201, 0.1151)}


def test_a_frozen_leaderboard_foretells_nothing() -> None:
    counted = entry(0.5)
    late = entry(0.9)
    frozen = board([counted], frozen_at=NOON)
    assert placement(frozen, result_of(late)).rank is None
    assert placement(frozen, result_of(counted)).rank == 1


def test_it_has_the_rank_range_of_its_row() -> None:
    first, second = (replace(entry(mean), result_id=uuid.uuid4()) for mean in (0.5, 0.4))
    assert first.result_id is not None
    statistics = {first.result_id: MethodStatistics(None, {}, (1, 2), True)}
    rows = RankedRows([first, second], COMPETITION, CLASSES, decimals=4, statistics=statistics)
    shown = replace(board([]), rows=rows)
    assert placement(shown, result_of(first)).rank_range == (1, 2)
    assert placement(shown, result_of(second)).rank_range is None
    foretold = result_of(entry(0.6), first.submission_id)
    assert placement(shown, foretold).rank_range is None, "nothing is known of what is not published"
    alone = RankedRows([first], COMPETITION, CLASSES, decimals=4, statistics=statistics)
    assert placement(replace(shown, rows=alone), result_of(first)).rank_range is None


def test_nothing_is_compared_on_an_empty_board() -> None:
    found = placement(board([]), result_of(entry(0.5)))
    assert (found.rank, found.count, found.mean) == (1, 1, Published(None, None))
