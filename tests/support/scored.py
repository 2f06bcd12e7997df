"""Scored submissions with arbitrary scores, for tests of what happens to results."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.support.phases import main_phase
from vocboard.app.accounts.models import User
from vocboard.app.challenges.models import Challenge
from vocboard.app.database import now
from vocboard.app.evaluations import service as evaluations
from vocboard.app.submissions.models import Method, State, Submission, SubmissionEntry
from vocboard.evaluator.editions import Metric, Task
from vocboard.evaluator.scores import ClassDetails, CompetitionScores, Curve, Measure

SCORE = 0.123456789


def make_scored(
    session: Session,
    challenge: Challenge,
    owner: User,
    method_name: str,
    *,
    score: float = SCORE,
    competitions: Sequence[str] = ("comp1",),
    positives: int = 2,
    **given: Any,
) -> Submission:
    """Make a submission, in the class car, that the challenge's current scoring has evaluated."""
    known = select(Method).where(
        Method.challenge_id == challenge.id, Method.user_id == owner.id, Method.name == method_name
    )
    method = session.scalar(known)
    if method is None:
        method = Method(challenge_id=challenge.id, user_id=owner.id, name=method_name)
        session.add(method)
        session.flush()
    fields: dict[str, Any] = {
        "description": "About it",
        "archive_sha256": "0" * 64,
        "archive_bytes": 1,
        "archive_name": "results.tar.gz",
        "warnings": [],
        "state": State.SCORED,
        "finished_at": now(),
    }
    submission = Submission(
        challenge_id=challenge.id,
        user_id=owner.id,
        method_id=method.id,
        entries=[
            SubmissionEntry(competition=key, position=position, classes=["car"])
            for position, key in enumerate(competitions)
        ],
        **{"phase_id": main_phase(session, challenge.id).id, **fields, **given},
    )
    session.add(submission)
    session.flush()
    scoring_id = main_phase(session, challenge.id).current_scoring_id
    assert scoring_id is not None
    evaluations.store(
        session,
        submission_id=submission.id,
        scoring_id=scoring_id,
        scores={key: _scores(score, key, positives) for key in competitions},
        ground_truth_sha256="1" * 64,
        archive_sha256=submission.archive_sha256,
        started_at=now(),
        seconds=1.0,
    )
    return submission


def _scores(score: float, competition: str, positives: int) -> CompetitionScores:
    return CompetitionScores(
        competition=competition,
        task=Task.CLASSIFICATION if competition == "comp1" else Task.DETECTION,
        primary=Measure(Metric.AVERAGE_PRECISION, {"car": score}),
        details={"car": ClassDetails(positives, 3, 0, 1.0, 0.666666666)},
        curves={"car": Curve(np.array([0.5, 0.5, 1.0]), np.array([1.0, 0.5, 0.666666666]))},
        not_entered=("bird",),
    )
