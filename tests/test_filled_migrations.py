"""Databases in use of each revision can be migrated, on SQLite and PostgreSQL; leaderboards stay equal."""

from contextlib import closing

import pytest
from alembic import command
from alembic.script import ScriptDirectory
from sqlalchemy import select, update

from tests.support.old_databases import CLASSES, COMPETITION, Filled, fill
from vocboard.app.database import Database
from vocboard.app.jobs.models import Job, Kind
from vocboard.app.leaderboards.current import Boards
from vocboard.app.leaderboards.models import Rescore, RescoreItem, RescoreState
from vocboard.app.messaging.models import OutgoingMail
from vocboard.app.submissions.models import Submission
from vocboard.migrations import upgrade
from vocboard.migrations.run import config

REVISIONS = [each.revision for each in ScriptDirectory.from_config(config("sqlite://")).walk_revisions()][::-1]
# How many submissions the database has that is migrated from a revision: from the baseline, and each of the newest.
SUBMISSIONS = dict.fromkeys(REVISIONS[-2:], 4) | {REVISIONS[0]: 3000}


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.services)])
def empty_url(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue(f"empty_{request.param}_url"))


@pytest.mark.parametrize("revision", SUBMISSIONS)
def test_a_filled_database_is_migrated_in_one_transaction(empty_url: str, revision: str) -> None:
    command.upgrade(config(empty_url), revision)
    with (
        closing(Database(empty_url)) as database,
        database.engine.execution_options(writing=True).begin() as connection,
    ):
        expected = fill(connection, SUBMISSIONS[revision])
    upgrade(empty_url)
    with closing(Database(empty_url)) as database:
        check_leaderboards(database, expected)
        check_waiting_work(database, expected)


def check_leaderboards(database: Database, expected: Filled) -> None:
    boards = Boards(database)
    for phase_key, methods in expected.leaderboards.items():
        board = boards.read(expected.challenge, COMPETITION, None, phase_key=phase_key).board
        assert [(row.rank, row.method, row.mean.value) for row in board.rows] == [
            (rank, method, mean) for rank, (method, mean) in enumerate(methods, start=1)
        ]
        for row in board.rows:
            scores = dict(zip(board.classes, row.cells, strict=True))
            assert {scores[name].value for name in CLASSES} == {row.mean.value}
    with database.writing() as session:  # the triggers that tell of changes are there again
        session.execute(update(Submission).values(published_at=None))
    for phase_key in expected.leaderboards:
        assert len(boards.read(expected.challenge, COMPETITION, None, phase_key=phase_key).board.rows) == 0


def check_waiting_work(database: Database, expected: Filled) -> None:
    with database.reading() as session:
        jobs = session.scalars(select(Job).where(Job.kind == Kind.MAIL)).all()
        assert {(job.key, job.attempts, job.finished_at) for job in jobs} == {
            (message, 3, None) for message in expected.mail
        }
        assert set(session.scalars(select(OutgoingMail.id))) == expected.mail
        [rescore] = session.scalars(select(Rescore))
        assert rescore.state == RescoreState.RUNNING
        assert set(session.scalars(select(RescoreItem.submission_id))) == expected.rescored
