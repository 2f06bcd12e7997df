"""A result beside its leaderboard and beside the version before it, for the page of a submission."""

import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.database import Database
from vocboard.app.errors import NotFoundError
from vocboard.app.evaluations.results import visible_evaluation
from vocboard.app.leaderboards.current import Boards, HiddenLeaderboardError
from vocboard.app.leaderboards.placement import Placement, Published, placement, result_to_place
from vocboard.app.pages.certainty import range_of_ranks
from vocboard.app.pages.results import ClassRow, ResultView
from vocboard.app.submissions import queries
from vocboard.app.submissions.models import Submission
from vocboard.app.submissions.queries import phase_of
from vocboard.evaluator.editions import Metric
from vocboard.evaluator.tasks.registries.definitions import METRICS

NOTHING_PUBLISHED = Published(None, None)


class Sort(StrEnum):
    """How the classes of a result are sorted."""

    CLASS = "class"
    SCORE = "score"  # the best first
    CHANGE = "change"  # the greatest improvement first
    GAP = "gap"  # the furthest behind the best first


@dataclass(frozen=True, slots=True)
class Previous:
    """The version that a result is compared with; scores are fractions as shown."""

    submission_id: uuid.UUID
    created_at: datetime
    mean: float | None
    classes: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class ScoreComparison:
    """One score beside others; differences are fractions, None if one of the two scores is undefined.

    Attributes:
        change: since the previous version.
        gap: to the best of the other published methods; negative if the score is lower.
    """

    change: float | None
    gap: float | None
    published: Published


@dataclass(frozen=True, slots=True)
class Comparison:
    """A result beside others.

    Attributes:
        placement: None if there is no leaderboard that the viewer may see.
        previous: None if there is none that the viewer may see.
        sort: how the classes are sorted.
    """

    placement: Placement | None
    previous: Previous | None
    mean: ScoreComparison
    higher_is_better: bool
    classes: Mapping[str, ScoreComparison] = field(default_factory=dict)
    sort: Sort = Sort.CLASS

    @property
    def has_changes(self) -> bool:
        """Whether there are changes of classes."""
        return any(one.change is not None for one in self.classes.values())

    @property
    def has_gaps(self) -> bool:
        """Whether there are gaps of classes."""
        return any(one.gap is not None for one in self.classes.values())

    @property
    def rank_range(self) -> str:
        """The ranks that the differences between methods allow; empty if none are known."""
        known = None if self.placement is None else self.placement.rank_range
        return "" if known is None else range_of_ranks(known)

    @property
    def lead(self) -> float | None:
        """How much better the mean is than the best published one: a fraction, negative if it is worse."""
        if self.mean.gap is None:
            return None
        return self.mean.gap if self.higher_is_better else -self.mean.gap


def compare(
    database: Database,
    boards: Boards,
    submission: Submission,
    view: ResultView,
    viewer: User | None,
    *,
    is_managed: bool,
    sort: Sort,
) -> tuple[ResultView, Comparison]:
    """Return a result with its classes sorted, and the comparison.

    Args:
        submission: one that the viewer may see, with its challenge.
        is_managed: whether the viewer is its owner or an organiser, who also see unpublished versions.
    """
    key = view.result.competition
    with database.reading() as session:
        previous = _previous(session, submission, view, viewer) if is_managed else None
        result = result_to_place(session, submission, key, is_complete=not view.result.not_entered)
    found = None
    if result is not None:
        with suppress(HiddenLeaderboardError, NotFoundError):
            board = boards.read(submission.challenge.slug, key, viewer, phase_key=phase_of(submission).key).board
            found = placement(board, result)
    primary = view.primary
    metric = Metric(primary.metric) if primary.metric in set(Metric) else None
    comparison = Comparison(
        placement=found,
        previous=previous,
        mean=_compared(
            primary.mean, previous.mean if previous else None, found.mean if found else NOTHING_PUBLISHED, view.decimals
        ),
        higher_is_better=metric is None or METRICS[metric].higher_is_better,
        classes={
            row.name: _compared(
                row.scores[0],
                previous.classes.get(row.name) if previous else None,
                found.classes.get(row.name, NOTHING_PUBLISHED) if found else NOTHING_PUBLISHED,
                view.decimals,
            )
            for row in view.rows
            if row.entered
        },
        sort=sort,
    )
    return replace(view, rows=_sorted(view.rows, comparison)), comparison


def _previous(session: Session, submission: Submission, view: ResultView, viewer: User | None) -> Previous | None:
    key = view.result.competition
    found = queries.previous_of(session, submission, key)
    evaluation = None if found is None else visible_evaluation(session, found, viewer)
    if found is None or evaluation is None:
        return None
    results = (one.measures[0] for one in evaluation.results if one.competition == key)
    measure = next((one for one in results if one.metric == view.primary.metric), None)
    if measure is None:
        return None
    return Previous(found.id, found.created_at, measure.mean, measure.per_class)


def _compared(score: float | None, before: float | None, published: Published, decimals: int) -> ScoreComparison:
    return ScoreComparison(
        change=_difference(score, before, decimals),
        gap=_difference(score, published.best, decimals),
        published=published,
    )


def _difference(score: float | None, other: float | None, decimals: int) -> float | None:
    return None if score is None or other is None else round(score - other, decimals)


def _sorted(rows: Sequence[ClassRow], comparison: Comparison) -> tuple[ClassRow, ...]:
    better = -1 if comparison.higher_is_better else 1

    def key(row: ClassRow) -> tuple[bool, float]:
        compared = comparison.classes.get(row.name)
        value = None
        if compared is not None and comparison.sort is Sort.SCORE:
            value = None if row.scores[0] is None else better * row.scores[0]
        elif compared is not None and comparison.sort is Sort.CHANGE:
            value = None if compared.change is None else better * compared.change
        elif compared is not None and comparison.sort is Sort.GAP:
            value = None if compared.gap is None else -better * compared.gap
        return value is None, 0.0 if value is None else value

    return tuple(rows) if comparison.sort is Sort.CLASS else tuple(sorted(rows, key=key))
