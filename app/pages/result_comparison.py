"""A result beside the published ones of other methods, and beside the version before it."""

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
from vocboard.app.evaluations.visible import VisibleResult
from vocboard.app.leaderboards.current import Boards, HiddenLeaderboardError
from vocboard.app.leaderboards.placement import Placement, Published, placement, results_to_place
from vocboard.app.leaderboards.statistics import decimals_of
from vocboard.app.pages.board_rows import interval_text
from vocboard.app.pages.charts import Scale
from vocboard.app.pages.results import ClassRow, ResultView, higher_is_better
from vocboard.app.submissions import queries
from vocboard.app.submissions.models import Submission
from vocboard.app.submissions.queries import phase_of

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


@dataclass(frozen=True, slots=True)
class Tile:
    """The mean in one competition, and where it stands on the leaderboard.

    Attributes:
        placement: None if there is no leaderboard that the viewer may see.
        lead: how much better the mean is than the best of the other published ones: a fraction, negative if it is
            worse; None if one of them is unknown, or the result, which did not enter all classes, ranks after them.
        interval: of the mean, in per cent; empty unless the leaderboard shows it.
    """

    result: VisibleResult
    placement: Placement | None
    lead: float | None
    interval: str


def tiles(
    results: Sequence[VisibleResult], decimals: int, placements: Mapping[str, Placement] | None = None
) -> list[Tile]:
    """Return a tile for each result.

    Args:
        decimals: of the challenge.
        placements: by competition, of the results that the viewer may see on leaderboards.
    """
    found = []
    for result in results:
        primary, placed = result.measures[0], (placements or {}).get(result.competition)
        best = placed.mean.best if placed and not result.not_entered else None
        gap = _difference(primary.mean, best, decimals)
        interval = placed.interval if placed else None
        found.append(
            Tile(
                result,
                placed,
                lead=gap if gap is None or higher_is_better(primary.metric) else -gap,
                interval="" if interval is None else interval_text(interval, decimals_of(decimals)),
            )
        )
    return found


def placements_of(
    database: Database,
    boards: Boards,
    submission: Submission,
    results: Sequence[VisibleResult],
    viewer: User | None,
) -> Mapping[str, Placement]:
    """Return where results of a submission stand, by competition, on the leaderboards that the viewer may see.

    Args:
        submission: one that the viewer may see, with its challenge.
    """
    with database.reading() as session:
        to_place = results_to_place(session, submission, {one.competition: not one.not_entered for one in results})
    found = {}
    for key, result in to_place.items():
        with suppress(HiddenLeaderboardError, NotFoundError):
            board = boards.read(submission.challenge.slug, key, viewer, phase_key=phase_of(submission).key).board
            found[key] = placement(board, result)
    return found


def compare(
    database: Database,
    submission: Submission,
    view: ResultView,
    viewer: User | None,
    *,
    placed: Placement | None,
    is_managed: bool,
    sort: Sort,
) -> tuple[ResultView, Comparison]:
    """Return a result with its classes sorted, and the comparison.

    Args:
        submission: one that the viewer may see, with its challenge.
        placed: where it stands.
        is_managed: whether the viewer is its owner or an organiser, who also see unpublished versions.
    """
    previous = None
    if is_managed:
        with database.reading() as session:
            previous = _previous(session, submission, view, viewer)
    primary, of_classes = view.primary, placed.classes if placed else {}
    comparison = Comparison(
        placement=placed,
        previous=previous,
        mean=_compared(
            primary.mean,
            previous.mean if previous else None,
            placed.mean if placed else NOTHING_PUBLISHED,
            view.decimals,
        ),
        classes={
            row.name: _compared(
                row.scores[0],
                previous.classes.get(row.name) if previous else None,
                of_classes.get(row.name, NOTHING_PUBLISHED),
                view.decimals,
            )
            for row in view.rows
            if row.entered
        },
        sort=sort,
    )
    others = [one.published for one in (comparison.mean, *comparison.classes.values())]
    drawn = [*primary.per_class.values(), primary.mean, *(score for one in others for score in (one.best, one.median))]
    return replace(view, rows=_sorted(view, comparison), scale=Scale.over(drawn)), comparison


def _previous(session: Session, submission: Submission, view: ResultView, viewer: User | None) -> Previous | None:
    key = view.result.competition
    found = queries.previous_of(session, submission, key)
    evaluation = (
        None if found is None else visible_evaluation(session, found, queries.access_of(session, found, viewer))
    )
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


def _sorted(view: ResultView, comparison: Comparison) -> tuple[ClassRow, ...]:
    better = -1 if view.higher_is_better else 1

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

    return view.rows if comparison.sort is Sort.CLASS else tuple(sorted(view.rows, key=key))
