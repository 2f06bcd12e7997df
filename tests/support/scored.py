"""Scored submissions with arbitrary scores, for tests of what happens to results."""

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.support.phases import complete, main_phase
from vocboard.app.accounts.models import User
from vocboard.app.challenges.models import MAIN_PHASE, Challenge
from vocboard.app.challenges.phases import phase_named, phases_of
from vocboard.app.database import now
from vocboard.app.evaluations import service as evaluations
from vocboard.app.submissions.models import Method, State, Submission, SubmissionEntry, SubmissionPerson
from vocboard.app.teams.queries import locked_team_of
from vocboard.evaluator.editions import Metric, Task
from vocboard.evaluator.scores import ClassDetails, CompetitionScores, Curve, Measure

SCORE = 0.123456789


def make_submission(
    session: Session,
    challenge: Challenge,
    owner: User,
    method_name: str,
    classes: Mapping[str, Sequence[str]],
    **given: Any,
) -> Submission:
    """Make a submission without scores, of a new method or of one that the owner has.

    Args:
        classes: those entered, by competition.
        given: columns; by default it is scored, and of the main phase.
    """
    team, people = locked_team_of(session, challenge, owner)
    method = session.scalar(select(Method).where(Method.team_id == team.id, Method.name == method_name))
    if method is None:
        method = Method(challenge_id=challenge.id, team_id=team.id, name=method_name)
        session.add(method)
        session.flush()
    fields: dict[str, Any] = {
        "method_id": method.id,
        "phase_id": main_phase(session, challenge.id).id,
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
        team_id=team.id,
        people=[SubmissionPerson(user_id=person.id) for person in people],
        entries=[
            SubmissionEntry(competition=key, position=position, classes=list(names))
            for position, (key, names) in enumerate(classes.items())
        ],
        **{**fields, **given},
    )
    session.add(submission)
    session.flush()
    return submission


def make_scored(
    session: Session,
    challenge: Challenge,
    owner: User,
    method_name: str,
    *,
    score: float = SCORE,
    competitions: Sequence[str] = ("comp1",),
    positives: int | None = 2,
    **given: Any,
) -> Submission:
    """Make a submission, in the class car, that the current scoring of its phase has evaluated.

    Args:
        positives: of the class; None for scores without details and curves.
        given: columns of the submission; by default it is of the main phase.
    """
    phases = {phase.id: phase for phase in phases_of(complete(session, challenge.id))}
    phase = phases[given.get("phase_id", main_phase(session, challenge.id).id)]
    submission = make_submission(
        session,
        challenge,
        owner,
        method_name,
        {key: ["car"] for key in competitions},
        **{"phase_id": phase.id, "description": "About it", **given},
    )
    assert phase.scoring_id is not None
    scores = {key: scores_of(score, key, positives) for key in competitions}
    store_scores(session, submission.id, phase.scoring_id, scores, archive_sha256=submission.archive_sha256)
    session.refresh(submission, ["current_evaluation_id"])
    return submission


def store_scores(
    session: Session,
    submission_id: uuid.UUID,
    scoring_id: uuid.UUID,
    scores: Mapping[str, CompetitionScores],
    **given: Any,
) -> None:
    """Store an evaluation with these scores by competition, as a worker does; `given` has other hashes."""
    hashes = {"ground_truth_sha256": "1" * 64, "archive_sha256": "0" * 64, **given}
    evaluations.store(
        session,
        submission_id=submission_id,
        scoring_id=scoring_id,
        scores=scores,
        started_at=now(),
        seconds=1.0,
        **hashes,
    )


def make_published(
    session: Session,
    challenge: Challenge,
    owner: User,
    method_name: str,
    score: float,
    *,
    phase_key: str = MAIN_PHASE,
    published: bool = True,
    **given: Any,
) -> Submission:
    """Make a submission as `make_scored` does, in comp1 and without details, and publish it."""
    return make_scored(
        session,
        challenge,
        owner,
        method_name,
        score=score,
        positives=None,
        **{
            "phase_id": phase_named(complete(session, challenge.id), phase_key).id,
            "description": "",
            "contributors": f"The people of {method_name}",
            "affiliation": f"The laboratory of {method_name}",
            "published_at": now() if published else None,
            **given,
        },
    )


def scores_of(score: float, competition: str = "comp1", positives: int | None = None) -> CompetitionScores:
    """Return scores of the class car alone, with details and a curve if the number of positives is given."""
    task = Task.CLASSIFICATION if competition == "comp1" else Task.DETECTION
    primary = Measure(Metric.AVERAGE_PRECISION, {"car": score})
    if positives is None:
        return CompetitionScores(competition=competition, task=task, primary=primary)
    return CompetitionScores(
        competition=competition,
        task=task,
        primary=primary,
        details={"car": ClassDetails(positives, 3, 0, 1.0, 0.666666666)},
        curves={"car": Curve(np.array([0.5, 0.5, 1.0]), np.array([1.0, 0.5, 0.666666666]))},
        not_entered=("bird",),
    )
