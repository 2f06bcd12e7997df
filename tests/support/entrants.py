"""Submissions that have been scored, without a worker: with the scores that a test wants."""

from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.challenges import queries as challenges
from vocboard.app.challenges.models import MAIN_PHASE, Challenge
from vocboard.app.challenges.phases import phase_named
from vocboard.app.database import now
from vocboard.app.evaluations import service as evaluations
from vocboard.app.submissions.models import Method, State, Submission, SubmissionEntry
from vocboard.evaluator.editions import Metric, Task
from vocboard.evaluator.scores import CompetitionScores, Measure


def make_scored(
    session: Session,
    challenge: Challenge,
    user: User,
    name: str,
    score: float,
    *,
    phase_key: str = MAIN_PHASE,
    published: bool = True,
    **given: Any,
) -> Submission:
    """Make a submission to comp1 that has this score for the class car, and no other class.

    Args:
        given: columns of the submission.
    """
    method = session.scalar(
        select(Method).where(Method.challenge_id == challenge.id, Method.user_id == user.id, Method.name == name)
    )
    if method is None:
        method = Method(challenge_id=challenge.id, user_id=user.id, name=name)
        session.add(method)
        session.flush()
    phase = phase_named(challenges.challenge_as_it_is(session, challenge.id), phase_key)
    submission = Submission(
        **{
            "challenge_id": challenge.id,
            "phase_id": phase.id,
            "user_id": user.id,
            "method_id": method.id,
            "contributors": f"The people of {name}",
            "affiliation": f"The laboratory of {name}",
            "archive_sha256": "0" * 64,
            "archive_bytes": 1,
            "archive_name": "results.tar.gz",
            "state": State.SCORED,
            "finished_at": now(),
            "published_at": now() if published else None,
            "entries": [SubmissionEntry(competition="comp1", position=0, classes=["car"])],
            **given,
        }
    )
    session.add(submission)
    session.flush()
    assert phase.scoring_id is not None
    evaluations.store(
        session,
        submission_id=submission.id,
        scoring_id=phase.scoring_id,
        scores={
            "comp1": CompetitionScores(
                competition="comp1",
                task=Task.CLASSIFICATION,
                primary=Measure(Metric.AVERAGE_PRECISION, {"car": score}),
            )
        },
        ground_truth_sha256="1" * 64,
        archive_sha256="0" * 64,
        started_at=now(),
        seconds=1.0,
    )
    return submission
