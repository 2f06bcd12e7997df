"""Leaderboards: the published methods of a competition, ranked, with the best score of each column marked."""

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from vocboard.app.challenges.editions import edition_of
from vocboard.app.challenges.models import Challenge, ChallengeCompetition
from vocboard.app.errors import NotFoundError
from vocboard.app.evaluations.rounding import shown
from vocboard.app.evaluations.visibility import allowed
from vocboard.app.leaderboards import queries
from vocboard.app.leaderboards.ranking import Standing, best, order, ranks
from vocboard.app.rescores.queries import Correction, corrections
from vocboard.app.submissions.declarations import Statement, statements
from vocboard.app.submissions.models import Declared
from vocboard.evaluator.editions import BACKGROUND, Competition, Metric
from vocboard.evaluator.tasks.definitions import METRICS, TASKS


@dataclass(frozen=True, slots=True)
class Cell:
    """A score for display.

    Attributes:
        value: a fraction, rounded to the challenge's decimals; None if undefined or not entered.
        is_entered: False for a class without results, as opposed to an undefined score.
        is_best: whether no score in its column is higher, before rounding.
    """

    value: float | None
    is_entered: bool
    is_best: bool


@dataclass(frozen=True, slots=True)
class BoardRow:
    """One published method.

    Attributes:
        rank: 1 for the first; None if the mean is undefined.
        declared: the declarations that the competition requires.
        mean_over: number of classes in the mean.
        is_complete: whether every class of the competition was entered.
        cells: one for each class of the leaderboard.
        others: the means of the leaderboard's other metrics.
    """

    rank: int | None
    submission_id: uuid.UUID
    method: str
    contributors: str
    affiliation: str
    declared: tuple[Statement, ...]
    submitted_at: datetime
    mean: Cell
    mean_over: int
    is_complete: bool
    cells: tuple[Cell, ...]
    others: tuple[Cell, ...] = ()


@dataclass(frozen=True, slots=True)
class Board:
    """The leaderboard of one competition of a challenge.

    Attributes:
        metric: the metric of the columns, which ranks.
        classes: the columns; empty at the detail level `mean`.
        decimals: decimal places of scores.
        rows: by rank.
        has_curves: whether curves are visible.
        others: metrics whose mean is shown next to that of `metric`.
        corrections: re-scores that have been applied, the latest first.
    """

    challenge: str
    challenge_title: str
    competition: Competition
    metric: Metric
    classes: tuple[str, ...]
    decimals: int
    rows: tuple[BoardRow, ...]
    others: tuple[Metric, ...] = ()
    has_curves: bool = False
    corrections: tuple[Correction, ...] = ()


def board(session: Session, challenge: Challenge, competition: str) -> Board:
    """Return a leaderboard as of the challenge's current scoring, in at most five statements however long it is.

    It is the same for everyone, including organisers: it shows what participants may see at the detail level.

    Raises:
        NotFoundError: the challenge has no such competition.
    """
    rules = rules_of(session, challenge, competition)
    permitted = allowed(challenge.detail, is_organiser=False)
    classes = columns(rules) if permitted.classes else ()
    published = queries.published(session, challenge, competition)
    values = queries.values(session, challenge, competition)
    others = rules.rules.board
    means = queries.other_means(session, [row.result_id for row in published], others)
    standings = [Standing(row.mean, not row.not_entered, row.created_at) for row in published]
    metric = rules.rules.metric
    places = order(standings, higher_is_better=METRICS[metric].higher_is_better)
    best_of_class = {name: _best(metric, (scores.get(name) for scores in values.values())) for name in classes}
    best_mean = _best(metric, (standing.mean for standing in standings))
    best_others = {other: _best(other, (found.get(other) for found in means.values())) for other in others}

    def cell(value: float | None, is_entered: bool, best_value: float | None) -> Cell:
        return Cell(shown(value, challenge.decimals), is_entered, value is not None and value == best_value)

    rows = []
    for rank, place in zip(ranks(standings[place] for place in places), places, strict=True):
        row, scores = published[place], values[published[place].measure_id]
        rows.append(
            BoardRow(
                rank=rank,
                submission_id=row.id,
                method=row.name,
                contributors=row.contributors,
                affiliation=row.affiliation,
                declared=statements(_declared(row), rules.declarations),
                submitted_at=row.created_at,
                mean=cell(row.mean, True, best_mean),
                mean_over=row.mean_over,
                others=tuple(
                    cell(means[row.result_id].get(other), other in means[row.result_id], best_others[other])
                    for other in others
                ),
                is_complete=standings[place].is_complete,
                cells=tuple(cell(scores.get(name), name in scores, best_of_class[name]) for name in classes),
            )
        )
    return Board(
        challenge=challenge.slug,
        challenge_title=challenge.title,
        competition=rules,
        metric=metric,
        others=others,
        classes=classes,
        decimals=challenge.decimals,
        rows=tuple(rows),
        has_curves=permitted.curves and TASKS[rules.task].has_curves,
        corrections=corrections(session, challenge),
    )


def rules_of(session: Session, challenge: Challenge, competition: str) -> Competition:
    """Return the rules of a challenge's competition.

    Raises:
        NotFoundError: the challenge has no such competition.
    """
    # Check the edition first: PostgreSQL rejects some characters that URLs can contain.
    rules = edition_of(challenge).competitions.get(competition)
    if rules is None or session.get(ChallengeCompetition, (challenge.id, competition)) is None:
        raise NotFoundError("The challenge has no such competition.")
    return rules


def _best(metric: Metric, values: Iterable[float | None]) -> float | None:
    return best(values, higher_is_better=METRICS[metric].higher_is_better)


def _declared(row: Any) -> Declared:
    return Declared(row.training_data, row.training_annotation, row.flickr_images, row.flickr_count)


def columns(competition: Competition) -> tuple[str, ...]:
    """Return the columns of a competition: its classes, preceded by the background if it is scored."""
    return (BACKGROUND, *competition.classes) if TASKS[competition.task].has_background else competition.classes
