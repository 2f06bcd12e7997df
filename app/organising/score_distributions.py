"""The scores of all submissions to a challenge, for its organisers: a distribution for each leaderboard."""

import uuid
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import BigInteger, and_, cast, func, select
from sqlalchemy.orm import Session

from vocboard.app.challenges.models import Challenge
from vocboard.app.challenges.phases import Phase, phases_of
from vocboard.app.evaluations.models import CompetitionResult, Measure
from vocboard.app.evaluations.rounding import rounded_median
from vocboard.app.leaderboards.models import ReportedResult
from vocboard.app.leaderboards.service import rules_of
from vocboard.app.organising.history import quantile
from vocboard.app.submissions.models import State, Submission
from vocboard.evaluator.editions import Competition
from vocboard.evaluator.names import Metric
from vocboard.evaluator.tasks.definitions import METRICS

BINS = 1000  # of scores from 0 to 1


@dataclass(frozen=True, slots=True)
class BoardScores:
    """The means of all scored submissions to a competition of a phase, and what was not scored here.

    Attributes:
        bins: number of submissions by their mean, as it is shown, in thousandths.
        median: fraction, rounded as it is shown, at most to a thousandth.
        best: fraction, rounded as it is shown.
        reported: method and mean of each baseline and result from a paper.
    """

    phase: Phase
    competition: Competition
    bins: Mapping[int, int]
    median: float
    best: float
    higher_is_better: bool
    reported: tuple[tuple[str, float], ...]

    @property
    def scored(self) -> int:
        """Number of submissions."""
        return sum(self.bins.values())


def _median(bins: Mapping[int, int], decimals: int) -> float:
    """Return the median of thousandths as a fraction; of an even number, half way between the middle two.

    >>> _median({680: 1, 740: 1}, 2), _median({680: 1, 690: 2}, 2)
    (0.71, 0.69)
    """
    lower, upper = quantile(bins, 0.5), -quantile({-value: count for value, count in bins.items()}, 0.5)
    return rounded_median([lower / BINS, upper / BINS], min(decimals, 3)) or 0.0


def score_distributions(session: Session, challenge: Challenge) -> tuple[BoardScores, ...]:
    """Return the scores of each leaderboard that has some. Rehearsals do not count.

    Args:
        challenge: with its phases; the viewer organises it (the caller checks).
    """
    of_challenge = Submission.challenge_id == challenge.id
    steps = 10**challenge.decimals  # of the shown scores: what rounding hides is hidden from organisers, too
    in_bin = cast(func.round(func.round(Measure.mean * steps) * (BINS / steps)), BigInteger)
    key = (Submission.phase_id, CompetitionResult.competition, Measure.metric)
    query = (
        select(*key, in_bin, func.count(), func.min(Measure.mean), func.max(Measure.mean))
        .join(CompetitionResult, CompetitionResult.evaluation_id == Submission.current_evaluation_id)
        .join(Measure, and_(Measure.result_id == CompetitionResult.id, Measure.position == 0))
        .where(
            of_challenge,
            Submission.is_rehearsal.is_(False),
            Submission.state == State.SCORED,
            Measure.mean.is_not(None),
        )
        .group_by(*key, in_bin)
    )
    rows: dict[tuple[uuid.UUID, str], list[tuple[bool, int, int, float, float]]] = defaultdict(list)
    for phase_id, competition, metric, number, count, low, high in session.execute(query):
        if low is not None and high is not None:
            higher = METRICS[Metric(metric)].higher_is_better
            rows[phase_id, competition].append((higher, number, count, low, high))
    reported: dict[tuple[uuid.UUID, str], list[tuple[str, float]]] = defaultdict(list)
    not_scored_here = select(ReportedResult).where(
        ReportedResult.challenge_id == challenge.id, ReportedResult.mean.is_not(None)
    )
    for one in session.scalars(not_scored_here.order_by(ReportedResult.mean)):
        reported[one.phase_id, one.competition].append((one.method, one.mean or 0.0))
    found = []
    for phase in phases_of(challenge):
        for name in phase.competitions:
            if known := rows.get((phase.id, name)):
                higher = known[0][0]
                best = max(row[4] for row in known) if higher else min(row[3] for row in known)
                bins = {row[1]: row[2] for row in known}
                others = tuple(reported[phase.id, name])
                best = round(best, challenge.decimals)
                median = _median(bins, challenge.decimals)
                found.append(BoardScores(phase, rules_of(challenge, phase, name), bins, median, best, higher, others))
    return tuple(found)
