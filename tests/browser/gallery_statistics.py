"""Statistics of a leaderboard of the gallery, as a worker would have stored them."""

import uuid
from collections import defaultdict
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.support.phases import phase_of
from vocboard.app.challenges.models import Challenge
from vocboard.app.database import now
from vocboard.app.leaderboards import service
from vocboard.app.leaderboards.differences import Differences
from vocboard.app.leaderboards.models import BoardAgreement, BoardDifferences, BoardStatistics, SubmissionSequence
from vocboard.app.leaderboards.sequences import Agreement, Change, SequenceStatistics, members
from vocboard.app.leaderboards.shown_statistics import MEAN
from vocboard.app.leaderboards.statistics import Interval, MethodStatistics, Statistics, decimals_of, digest_of

HALF_INTERVAL = 0.012  # of a mean; of a class, three times that
HALF_DIFFERENCE = 0.03
MATRIX = 50  # methods whose agreement is known


def add_statistics(session: Session, challenge: Challenge, competition: str) -> None:
    """Add them for everything that the leaderboard shows now."""
    board = service.board(session, challenge, phase_of(session, challenge), competition)
    entries = [entry for entry in board.rows.entries if entry.result_id is not None]
    means = {entry.result_id: entry.mean for entry in entries if entry.result_id and entry.mean is not None}
    compared = {
        entry.result_id: entry.mean for entry in entries if entry.result_id and entry.is_complete and entry.mean
    }
    decimals = decimals_of(challenge.decimals)
    digest = digest_of((entry.result_id for entry in entries), decimals)
    assert digest is not None
    ranks = _rank_ranges(compared)
    best = max(compared.values())
    methods = {
        result: MethodStatistics(
            _interval(mean, HALF_INTERVAL),
            {},
            ranks.get(result),
            result in compared and best - mean < HALF_DIFFERENCE,
        )
        for result, mean in means.items()
    }
    stored = BoardStatistics(
        challenge_id=challenge.id,
        phase_id=challenge.main_phase.id,
        competition=competition,
        methods_sha256=digest,
        version=1,
        content=Statistics(decimals, 4952, 1_000, len(compared), methods).as_json(),
    )
    session.add(stored)
    session.flush()
    columns = {MEAN: compared}
    for place, name in enumerate(board.classes):
        cells = {entry.result_id: row.cells[place].value for entry, row in zip(entries, board.rows, strict=True)}
        columns[name] = {result: value for result, value in cells.items() if result in compared and value is not None}
    for name, values in columns.items():
        session.add(
            BoardDifferences(statistics_id=stored.id, class_name=name, content=_differences(values, decimals).packed())
        )


def add_across_methods(session: Session, challenge: Challenge, competition: str) -> None:
    """Add how far fifty methods of the leaderboard agree, and the comparisons of everybody's submissions."""
    random = np.random.default_rng(3)
    statistics = session.scalars(select(BoardStatistics).where(BoardStatistics.competition == competition)).one()
    results = [uuid.UUID(result) for result in statistics.content["methods"]][:MATRIX]
    hits = random.random((len(results), 40)) < np.linspace(0.3, 0.9, 40)
    correlations = [[round(float(value), 2) for value in row] for row in np.atleast_2d(np.corrcoef(hits))]
    found = [round(float(value), 2) for value in hits.mean(axis=1)]
    agreement = Agreement(results, found, correlations)
    session.add(BoardAgreement(statistics_id=statistics.id, content=agreement.as_json()))
    by_team: defaultdict[uuid.UUID, dict[str, Any]] = defaultdict(dict)
    for number, (key, sequence) in enumerate(
        members(session, challenge.main_phase.id, competition=competition).items()
    ):
        steps = [
            Change(round(step - HALF_DIFFERENCE, 3), round(step + HALF_DIFFERENCE, 3), abs(step) > HALF_DIFFERENCE)
            for step in (after.mean - before.mean for before, after in pairwise(sequence))
        ]
        gain = sequence[-1].mean - sequence[0].mean
        half = HALF_DIFFERENCE if number % 3 else 1.0
        low, high = round(gain - half, 3), round(gain + half, 3)
        overall = None if number % 3 == 1 else Change(low, high, abs(gain) > half)
        found_steps = [None if overall is None else step for step in steps]
        compared = SequenceStatistics([one.result_id for one in sequence], found_steps, overall)
        by_team[key.team_id][key.stored] = compared.as_json()
    for team_id, content in by_team.items():
        session.add(
            SubmissionSequence(
                challenge_id=challenge.id,
                phase_id=challenge.main_phase.id,
                team_id=team_id,
                submissions=len(content),
                latest_at=now(),
                decimals=challenge.decimals,
                version=1,
                is_due=False,
                content={"competitions": content},
            )
        )


def _rank_ranges(means: Mapping[uuid.UUID, float]) -> dict[uuid.UUID, tuple[int, int]]:
    values = np.array(list(means.values()))
    return {
        result: (
            1 + int((values - mean >= HALF_DIFFERENCE).sum()),
            len(values) - int((mean - values >= HALF_DIFFERENCE).sum()),
        )
        for result, mean in means.items()
    }


def _interval(mean: float, half: float) -> Interval:
    return Interval(round(max(mean - half, 0), 3), round(min(mean + half, 1), 3))


def _differences(values: Mapping[uuid.UUID, float], decimals: int) -> Differences:
    results = sorted(values, key=lambda result: values[result], reverse=True)
    scores: NDArray[np.float64] = np.array([values[result] for result in results])
    gaps = scores[:, None] - scores[None, :]
    low, high = gaps - HALF_DIFFERENCE, gaps + HALF_DIFFERENCE
    shown = np.ones_like(gaps, dtype=np.bool_)
    return Differences.rounded(results, low, high, (low > 0) | (high < 0), decimals, is_shown=shown)
