"""A synthetic database: a challenge with many scored submissions, some of them on the leaderboard of a competition."""

import uuid
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from sqlalchemy import insert, select, update
from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.challenges.editions import edition_from
from vocboard.app.challenges.models import (
    MAIN_PHASE,
    Challenge,
    ChallengePhase,
    GroundTruthVersion,
    Scoring,
    TruthState,
    Visibility,
)
from vocboard.app.challenges.rules import ChallengeRules
from vocboard.app.database import Base
from vocboard.app.evaluations.models import ClassScore, CompetitionResult, Evaluation, Measure
from vocboard.app.submissions.models import Method, State, Submission, SubmissionEntry, SubmissionPerson
from vocboard.app.teams.models import Team, TeamMember

SLUG, COMPETITION = "synthetic", "comp3"
EDITION = "VOC2012"
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
PEOPLE = 100
METHODS_A_PERSON = 10
LABS = ("Field Robotics Laboratory", "Institute of Imaging", "Vision Group, Technical University of Somewhere Far Away")
SEED = 2012


def fill(
    session: Session,
    *,
    submissions: int,
    published: int,
    people_count: int = PEOPLE,
    teams: int = 0,
    edition_file: str | None = None,
) -> None:
    """Add a public challenge, its people and their submissions to one competition, each scored for all classes.

    Everything is what the application's own models make of it, but for files: nobody reads archives or curves here.

    Args:
        submissions: of the challenge, those that are published included.
        published: the first so many, each of a method of its own.
        people_count: with an account; all enter.
        teams: of two people each; everybody else is alone.
        edition_file: content of a custom edition file; None for VOC2012.
    """
    random = np.random.default_rng(SEED)
    challenge_id, truth_id, scoring_id, phase_id = (_identifier(random) for _ in range(4))
    people = [_identifier(random) for _ in range(people_count)]
    edition = edition_from(EDITION, edition_file)
    competition = edition.competitions[COMPETITION]
    _add(
        session,
        User,
        [
            {"id": each, "email": f"person{number}@lab.example", "name": f"Person {number}", "password_hash": "none"}
            for number, each in enumerate(people)
        ],
    )
    rules = ChallengeRules(
        title="Visual object classes",
        visibility=Visibility.PUBLIC,
        opens_at=BEGIN,
        decimals=4,
        competitions=(COMPETITION,),
    )
    session.add(
        Challenge(
            id=challenge_id,
            slug=SLUG,
            edition=edition.name,
            edition_file=edition_file,
            phases=[
                ChallengePhase(id=phase_id, key=MAIN_PHASE, title="", truth_phase_id=phase_id, **rules.phase_columns())
            ],
            **rules.challenge_columns(),
        )
    )
    session.flush()
    session.add(
        GroundTruthVersion(
            id=truth_id,
            challenge_id=challenge_id,
            phase_id=phase_id,
            number=1,
            file_name="devkit.tar.gz",
            state=TruthState.READY,
            competitions=[COMPETITION],
        )
    )
    session.flush()
    session.add(Scoring(id=scoring_id, challenge_id=challenge_id, ground_truth_version_id=truth_id))
    session.flush()
    session.get_one(ChallengePhase, phase_id).current_scoring_id = scoring_id
    number_of_methods = max(published, min(submissions, people_count * METHODS_A_PERSON))
    methods = [_identifier(random) for _ in range(number_of_methods)]
    owners = [_identifier(random) for _ in range(people_count - teams)]
    of_challenge = {"challenge_id": challenge_id}
    _add(
        session,
        Team,
        [
            {"id": each, "name": f"Team {number}" if number < teams else "", **of_challenge}
            for number, each in enumerate(owners)
        ],
    )
    members = list(zip(owners + owners[:teams], people, strict=True))
    _add(session, TeamMember, [{"team_id": team, "user_id": user, **of_challenge} for team, user in members])
    people_of = defaultdict(list)
    for team, user in members:
        people_of[team].append(user)
    _add(
        session,
        Method,
        [
            {"id": each, "challenge_id": challenge_id, "team_id": owners[number % len(owners)], "name": _name(number)}
            for number, each in enumerate(methods)
        ],
    )
    rows: dict[type[Base], list[dict[str, Any]]] = {
        model: []
        for model in (Submission, SubmissionPerson, SubmissionEntry, Evaluation, CompetitionResult, Measure, ClassScore)
    }
    for number in range(submissions):
        submission_id, evaluation_id, result_id = (_identifier(random) for _ in range(3))
        method = number % number_of_methods
        owner = owners[method % len(owners)]
        submitter = people_of[owner][0]
        instant = BEGIN + timedelta(minutes=10 * number)
        scores = random.random(len(competition.classes)).tolist()
        rows[Submission].append(
            {
                "id": submission_id,
                "created_at": instant,
                "queued_at": instant,
                "finished_at": instant + timedelta(minutes=1),
                "challenge_id": challenge_id,
                "phase_id": phase_id,
                "user_id": submitter,
                "team_id": owner,
                "method_id": methods[method],
                "description": "Looks at the image twice, and then again at what it has not understood. " * 5,
                "contributors": f"Person {method % len(owners)}, A. Colleague, B. Colleague",
                "affiliation": LABS[method % len(LABS)],
                "declarations": {"training_data": "trainval of the challenge"},
                "archive_sha256": f"{number:064x}",
                "archive_bytes": 3_456_789,
                "archive_name": "results.tar.gz",
                "state": State.SCORED,
                "published_at": instant + timedelta(days=1) if number < published else None,
            }
        )
        rows[SubmissionPerson] += [{"submission_id": submission_id, "user_id": each} for each in people_of[owner]]
        rows[SubmissionEntry].append(
            {
                "submission_id": submission_id,
                "competition": COMPETITION,
                "position": 0,
                "classes": list(competition.classes),
            }
        )
        rows[Evaluation].append(
            {
                "id": evaluation_id,
                "created_at": instant + timedelta(minutes=1),
                "submission_id": submission_id,
                "scoring_id": scoring_id,
                "evaluator_version": "1",
                "ground_truth_sha256": "0" * 64,
                "archive_sha256": f"{number:064x}",
                "started_at": instant,
                "seconds": 1.0,
            }
        )
        rows[CompetitionResult].append(
            {
                "id": result_id,
                "evaluation_id": evaluation_id,
                "competition": COMPETITION,
                "position": 0,
                "task": competition.task.value,
                "details": {
                    name: {
                        "positives": 1234,
                        "difficult": 12,
                        "results": 52404,
                        "final_recall": 0.5,
                        "final_precision": 0.25,
                    }
                    for name in competition.classes
                },
                "not_entered": [],
            }
        )
        for rank, metric in enumerate((competition.rules.metric, *competition.rules.secondary)):
            measure_id, mean, mean_over = _identifier(random), sum(scores) / len(scores), len(scores)
            measure = {"id": measure_id, "result_id": result_id, "metric": metric.value, "position": rank}
            rows[Measure].append({**measure, "mean": mean, "mean_over": mean_over})
            rows[ClassScore] += [
                {"measure_id": measure_id, "class_name": name, "position": position, "value": score}
                for position, (name, score) in enumerate(zip(competition.classes, scores, strict=True))
            ]
    for model, made in rows.items():
        _add(session, model, made)
    evaluation = select(Evaluation.id).where(Evaluation.submission_id == Submission.id)
    session.execute(update(Submission).values(current_evaluation_id=evaluation.scalar_subquery()))


def _add(session: Session, model: type[Base], rows: list[dict[str, Any]]) -> None:
    session.execute(insert(model), rows)


def _identifier(random: np.random.Generator) -> uuid.UUID:
    return uuid.UUID(bytes=random.bytes(16), version=4)


def _name(number: int) -> str:
    return f"{('YOLO', 'R-CNN', 'DPM', 'Transformer', 'An ensemble of everything')[number % 5]}-{number:05}"
