"""What a leaderboard shows: its rows, ranked, and its cells."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias

from vocboard.app.evaluations.origin import ImportedScores
from vocboard.app.leaderboards.corrections import Correction, Removal
from vocboard.app.leaderboards.models import ReportedResult
from vocboard.app.leaderboards.ranked_rows import BoardRow, RankedRows
from vocboard.app.leaderboards.score_tables import Cell, ScoreTable
from vocboard.app.leaderboards.shown_statistics import ShownStatistics
from vocboard.evaluator.editions import Competition, Metric

__all__ = ["Board", "BoardKey", "BoardRow", "Cell", "Part", "RankedRows"]


class Part(StrEnum):
    """Which results of a phase a leaderboard shows."""

    COUNTING = "counting"
    LATER = "later"  # published after it was frozen


BoardKey: TypeAlias = tuple[str, str]  # keys of the phase and of the competition


@dataclass(frozen=True, slots=True)
class Board:
    """The leaderboard of one competition in one phase of a challenge.

    Attributes:
        phase: its key.
        metric: what the columns are of, and what ranks.
        classes: the columns; none where the detail level is `mean`.
        decimals: how many of a score's are shown.
        rows: by rank.
        has_curves: whether curves are visible.
        others: metrics whose mean is shown next to that of `metric`.
        corrections: re-scores that have been applied, the latest first.
        removals: results that organisers removed after it was frozen, the latest first.
        part: whether it shows what counts, or what was published after it was frozen.
        frozen_at: when what counts stopped changing; None if it still may.
        is_anonymous: whether it shows no names.
        statistics: how certain its scores are; None if it shows nothing of it.
        reported: results that were not scored here, in the order in which they were added. They have no rank, and
            nothing else of the leaderboard depends on them.
        imported: where its scores came from; None if all of them were computed on this server.
        ladder_step: the step of the Ladder mechanism, if it shows what that releases; None if it shows scores.
    """

    challenge: str
    challenge_title: str
    phase: str
    competition: Competition
    metric: Metric
    classes: tuple[str, ...]
    decimals: int
    rows: RankedRows
    others: tuple[Metric, ...] = ()
    has_curves: bool = False
    corrections: tuple[Correction, ...] = ()
    removals: tuple[Removal, ...] = ()
    part: Part = Part.COUNTING
    frozen_at: datetime | None = None
    is_anonymous: bool = False
    statistics: ShownStatistics | None = None
    ladder_step: float | None = None
    imported: ImportedScores | None = None
    reported: tuple[ReportedResult, ...] = ()

    @property
    def key(self) -> BoardKey:
        """Identifies it among all leaderboards of its challenge."""
        return self.phase, self.competition.key

    @property
    def class_metrics(self) -> tuple[Metric, ...]:
        """The metrics that it has scores by class of, the one that ranks first."""
        return tuple(metric for metric in (self.metric, *self.others) if self.rows.tables[metric].has_classes)

    @property
    def groups(self) -> Mapping[str, tuple[str, ...]]:
        """The groups of its columns, by name; none where it shows no classes."""
        return {name: group for name, group in self.competition.rules.groups if set(group) <= set(self.classes)}

    def grouped(self, metric: Metric) -> ScoreTable:
        """Return the scores of a metric with columns for the groups in place of the classes."""
        groups = [[1 + self.classes.index(name) for name in group] for group in self.groups.values()]
        return self.rows.tables[metric].grouped(groups, self.decimals)

    def place_of(self, submission_id: uuid.UUID) -> int | None:
        """Return the index of a submission's row, from 0; None if there is none or it must not be found."""
        return None if self.is_anonymous else self.rows.place_of(submission_id)

    def chosen(self, submission_ids: Sequence[uuid.UUID]) -> list[BoardRow]:
        """Return the rows of those of these submissions that it has, in their order."""
        places = (self.place_of(each) for each in submission_ids)
        return [self.rows[place] for place in places if place is not None]
