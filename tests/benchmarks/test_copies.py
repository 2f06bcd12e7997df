"""The copies of a synthetic challenge are complete and its own."""

import contextlib

import pytest
from sqlalchemy import func, select

from benchmarks.datasets.copies import multiply
from tests.support.factories import make_challenge, make_user
from tests.support.scored import make_scored
from vocboard.app.challenges.models import Challenge, ChallengePhase
from vocboard.app.database import Base, Database
from vocboard.app.evaluations.models import ClassScore
from vocboard.app.submissions.models import Submission


@pytest.mark.services
def test_a_challenge_and_its_submissions_are_multiplied(postgres_url: str) -> None:
    with contextlib.closing(Database(postgres_url)) as database:
        with database.writing() as session:
            challenge = make_challenge(session)
            make_scored(session, challenge, make_user(session), "A method")
            scores = session.scalar(select(func.count()).select_from(ClassScore)) or 0
        multiply(database, challenges=3, times=2)
        with database.reading() as session:
            assert session.scalar(select(func.count()).select_from(Challenge)) == 3
            phases = session.scalars(select(ChallengePhase.challenge_id)).all()
            assert sorted(phases) == sorted(session.scalars(select(Challenge.id)))
            submissions = session.scalars(select(Submission.challenge_id)).all()
            assert sorted(map(submissions.count, set(submissions))) == [1, 1, 2]
            assert session.scalar(select(func.count()).select_from(ClassScore)) == 4 * scores > 0
            for table in Base.metadata.sorted_tables:
                for key in table.foreign_keys:
                    known = select(key.column)
                    lost = select(func.count()).where(key.parent.is_not(None), key.parent.not_in(known))
                    assert session.scalar(lost) == 0, f"{table.name}.{key.parent.name}"
