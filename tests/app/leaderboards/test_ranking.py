"""Ranks follow the means as shown: equal ones share a rank, the earlier submission first; the undefined are last."""

from datetime import UTC, datetime, timedelta

from vocboard.app.leaderboards.ranking import Standing, order, ranks

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
