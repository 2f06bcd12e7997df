"""How one result compares with the published ones on its leaderboard, and which rank it would have there.

Everything comes from the leaderboard as its readers see it, so nothing is told that it does not show.
"""

import uuid
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
from sqlalchemy.orm import Session

from vocboard.app.evaluations.results import visible_means
from vocboard.app.evaluations.rounding import rounded_median
from vocboard.app.leaderboards.board import Board
from vocboard.app.leaderboards.ranking import Standing, order, ranks
from vocboard.app.leaderboards.statistics import Interval
from vocboard.app.submissions import queries
from vocboard.app.submissions.models import State, Submission


@dataclass(frozen=True, slots=True)
class Result:
    """A result in the competition of a leaderboard.

    Attributes:
        mean: what leaderboards rank by, a rounded fraction; None if it is undefined, or not released yet.
        is_complete: whether every class of the competition was entered.
        replaces: published submissions whose place it would take.
    """

    submission_id: uuid.UUID
    mean: float | None
    is_complete: bool
    submitted_at: datetime
    replaces: frozenset[uuid.UUID] = frozenset()


@dataclass(frozen=True, slots=True)
class Published:
    """The published scores of other methods in one column: fractions as shown, None where there is none.

    Attributes:
        best: of the mean, that of the methods which entered all classes.
    """

    best: float | None
    median: float | None


@dataclass(frozen=True, slots=True)
class Placement:
    """A result beside a leaderboard.

    Attributes:
        place: the index of its row, from 0; None if the leaderboard does not have it.
        rank: its rank, or the one that it would have; None without a mean, or if a frozen leaderboard does not have it.
        rank_range: the best and the worst rank that the differences allow; None unless its row shows them.
        interval: of its mean; None unless its row shows it: a frozen leaderboard may have that of an earlier mean.
        count: methods on the leaderboard, with this one if it has a rank.
        mean: of the other methods.
        classes: of the other methods, by class; empty if the leaderboard has no classes.
    """

    place: int | None
    rank: int | None
    rank_range: tuple[int, int] | None
    interval: Interval | None
    count: int
    is_frozen: bool
    mean: Published
    classes: dict[str, Published] = field(default_factory=dict)


def results_to_place(
    session: Session, submission: Submission, competitions: Mapping[str, bool]
) -> Mapping[str, Result]:
    """Return the current results of a submission by competition; empty if it cannot be on a leaderboard.

    Args:
        competitions: whether it entered every class of each.
    """
    if submission.state is not State.SCORED or submission.is_rehearsal or submission.held_back_at is not None:
        return {}
    replaced = queries.published_competitors(session, submission, competitions)
    means = visible_means(session, [submission], for_organisers=False).get(submission.id, {})
    return {
        key: Result(
            submission.id,
            means.get(key),
            is_complete=is_complete,
            submitted_at=submission.created_at,
            replaces=frozenset(one.id for one in replaced if key in one.published_competitions),
        )
        for key, is_complete in competitions.items()
    }


def placement(board: Board, result: Result) -> Placement:
    """Compare a result with the others on a leaderboard."""
    entries = board.rows.entries
    place = board.rows.place_of(result.submission_id)
    leaving = result.replaces | {result.submission_id}
    others = [number for number, entry in enumerate(entries) if entry.submission_id not in leaving]
    is_frozen = board.frozen_at is not None
    rank, rank_range, interval, count = None, None, None, len(others) + 1
    if place is not None:
        rank, count = board.rows.ranks[place], len(entries)
        known = board.rows[place].statistics
        rank_range = known.ranks if known is not None and count > 1 else None
        interval = known.mean if known is not None and entries[place].mean == result.mean else None
    elif is_frozen:
        count = len(entries)
    elif result.mean is not None:
        rank = _rank(board, result, others)
    columns = _columns(board, others)
    return Placement(
        place=place,
        rank=rank,
        rank_range=rank_range,
        interval=interval,
        count=count,
        is_frozen=is_frozen,
        mean=columns[0],
        classes=dict(zip(board.classes, columns[1:], strict=True)),
    )


def _rank(board: Board, result: Result, others: Collection[int]) -> int | None:
    entries = [board.rows.entries[number] for number in others]
    standings = [entry.standing for entry in entries]
    standings.append(Standing(result.mean, result.is_complete, result.submitted_at))
    places = order(standings, higher_is_better=board.rows.tables[board.metric].higher_is_better)
    ranked = ranks([standings[place] for place in places])
    return ranked[places.index(len(standings) - 1)]


def _columns(board: Board, others: Collection[int]) -> list[Published]:
    """Return the mean's column and those of the classes."""
    table = board.rows.tables[board.metric]
    scores = table.scores[list(others)]
    competing = scores.copy()
    competing[[not board.rows.entries[number].is_complete for number in others], 0] = np.nan
    best_of = np.max if table.higher_is_better else np.min
    found = []
    for column in range(scores.shape[1]):
        able = competing[~np.isnan(competing[:, column]), column]
        defined = scores[~np.isnan(scores[:, column]), column]
        found.append(
            Published(
                best=float(best_of(able)) if len(able) else None,
                median=rounded_median(defined.tolist(), board.decimals),
            )
        )
    return found
