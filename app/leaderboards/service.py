"""The leaderboard of a competition: its published methods, ranked, with the best of each column marked."""

import uuid
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import and_, select
from sqlalchemy.orm import Session

from app.challenges.editions import edition_of
from app.challenges.models import Challenge, ChallengeCompetition
from app.errors import NotFoundError
from app.evaluations.models import ClassScore, CompetitionResult, Evaluation, Measure
from app.evaluations.rounding import shown
from app.leaderboards.ranking import Standing, best, order, ranks
from app.submissions.declarations import Statement, statements
from app.submissions.models import Declared, Method, State, Submission
from evaluator.editions import BACKGROUND, Competition, Metric, Task


@dataclass(frozen=True, slots=True)
class Cell:
    """One score as it may be shown.

    Attributes:
        value: a fraction, rounded to the challenge's decimals; None where undefined or not entered.
        is_entered: False for a class without results, which is not the same as undefined.
        is_best: whether nothing in its column is better; decided before rounding.
    """

    value: float | None
    is_entered: bool
    is_best: bool


@dataclass(frozen=True, slots=True)
class BoardRow:
    """One published method.

    Attributes:
        rank: 1 for the first; None if the mean is undefined.
        declared: what the competition asks its entrants to state.
        mean_over: how many classes the mean is over.
        is_complete: whether every class of the competition was entered.
        cells: one for each of the board's classes.
        others: the mean of each of the board's other measures.
    """

    rank: int | None
    submission_id: uuid.UUID
    method: str
    description: str
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
        metric: what the columns are of, and what ranks.
        classes: the columns.
        decimals: how many of a score's are shown.
        rows: by rank.
        others: measures whose mean stands beside that of `metric`.
    """

    challenge: str
    challenge_title: str
    competition: Competition
    metric: Metric
    classes: tuple[str, ...]
    decimals: int
    rows: tuple[BoardRow, ...]
    others: tuple[Metric, ...] = ()


def board(session: Session, challenge: Challenge, competition: str) -> Board:
    """Return a leaderboard as of the challenge's current scoring, in at most four statements however long it is.

    Raises:
        NotFoundError: the challenge has no such competition.
    """
    # The edition first: PostgreSQL refuses to be asked for some of what stands in addresses.
    rules = edition_of(challenge).competitions.get(competition)
    if rules is None or session.get(ChallengeCompetition, (challenge.id, competition)) is None:
        raise NotFoundError("The challenge has no such competition.")
    classes = columns(rules)
    published = _published(session, challenge, competition)
    values = _values(session, [row.measure_id for row in published])
    others = rules.rules.board
    means = _other_means(session, [row.result_id for row in published], others)
    standings = [Standing(row.mean, not row.not_entered, row.created_at) for row in published]
    places = order(standings)
    highest = {name: best(scores.get(name) for scores in values.values()) for name in classes}
    highest_mean = best(standing.mean for standing in standings)
    highest_others = {metric: best(found.get(metric) for found in means.values()) for metric in others}

    def cell(value: float | None, is_entered: bool, highest: float | None) -> Cell:
        return Cell(shown(value, challenge.decimals), is_entered, value is not None and value == highest)

    rows = []
    for rank, place in zip(ranks(standings[place] for place in places), places, strict=True):
        row, scores = published[place], values[published[place].measure_id]
        rows.append(
            BoardRow(
                rank=rank,
                submission_id=row.id,
                method=row.name,
                description=row.description,
                contributors=row.contributors,
                affiliation=row.affiliation,
                declared=statements(_declared(row), rules.declarations),
                submitted_at=row.created_at,
                mean=cell(row.mean, True, highest_mean),
                mean_over=row.mean_over,
                others=tuple(
                    cell(means[row.result_id].get(metric), metric in means[row.result_id], highest_others[metric])
                    for metric in others
                ),
                is_complete=standings[place].is_complete,
                cells=tuple(cell(scores.get(name), name in scores, highest[name]) for name in classes),
            )
        )
    return Board(
        challenge=challenge.slug,
        challenge_title=challenge.title,
        competition=rules,
        metric=rules.rules.metric,
        others=others,
        classes=classes,
        decimals=challenge.decimals,
        rows=tuple(rows),
    )


def _declared(row: Any) -> Declared:
    return Declared(row.training_data, row.training_annotation, row.flickr_images, row.flickr_count)


def columns(competition: Competition) -> tuple[str, ...]:
    """What a competition's scores are given for: its classes, and for segmentation the background before them."""
    return (BACKGROUND, *competition.classes) if competition.task is Task.SEGMENTATION else competition.classes


def _published(session: Session, challenge: Challenge, competition: str) -> Sequence[Any]:
    query = (
        select(
            Submission.id,
            Submission.created_at,
            Submission.description,
            Submission.contributors,
            Submission.affiliation,
            Submission.training_data,
            Submission.training_annotation,
            Submission.flickr_images,
            Submission.flickr_count,
            Method.name,
            CompetitionResult.id.label("result_id"),
            CompetitionResult.not_entered,
            Measure.id.label("measure_id"),
            Measure.mean,
            Measure.mean_over,
        )
        .join(Method, Method.id == Submission.method_id)
        .join(
            Evaluation,
            and_(Evaluation.submission_id == Submission.id, Evaluation.scoring_id == challenge.current_scoring_id),
        )
        .join(CompetitionResult, CompetitionResult.evaluation_id == Evaluation.id)
        .join(Measure, and_(Measure.result_id == CompetitionResult.id, Measure.position == 0))
        .where(
            Submission.challenge_id == challenge.id,
            Submission.state == State.SCORED,
            Submission.published_at.is_not(None),
            CompetitionResult.competition == competition,
        )
        .order_by(Submission.created_at, Submission.id)
    )
    return session.execute(query).all()


def _values(session: Session, measure_ids: Collection[uuid.UUID]) -> Mapping[uuid.UUID, Mapping[str, float | None]]:
    """The unrounded scores of each measure, by class."""
    query = select(ClassScore.measure_id, ClassScore.class_name, ClassScore.value)
    values: defaultdict[uuid.UUID, dict[str, float | None]] = defaultdict(dict)
    for measure_id, name, value in session.execute(query.where(ClassScore.measure_id.in_(measure_ids))):
        values[measure_id][name] = value
    return values


def _other_means(
    session: Session, result_ids: Collection[uuid.UUID], metrics: Collection[Metric]
) -> Mapping[uuid.UUID, Mapping[Metric, float | None]]:
    """The unrounded means of some secondary measures, by result."""
    means: defaultdict[uuid.UUID, dict[Metric, float | None]] = defaultdict(dict)
    query = select(Measure.result_id, Measure.metric, Measure.mean).where(
        Measure.result_id.in_(result_ids), Measure.metric.in_([metric.value for metric in metrics])
    )
    for result_id, metric, mean in session.execute(query) if metrics else ():
        means[result_id][Metric(metric)] = mean
    return means
