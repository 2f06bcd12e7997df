"""Databases in use of every earlier revision can be migrated, on SQLite and PostgreSQL; leaderboards stay equal."""

import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from alembic import command
from alembic.script import ScriptDirectory
from sqlalchemy import URL, make_url, select, text, update

from tests.support.old_databases import CLASSES, COMPETITION, MEANS, TIME, Filled, fill, install_triggers
from tests.support.postgres import PostgresServer
from tests.support.services import in_full
from vocboard.app.challenges.models import MAIN_PHASE, ChallengePhase, Freeze
from vocboard.app.database import Database
from vocboard.app.jobs.models import Job, Kind
from vocboard.app.leaderboards.current import Boards
from vocboard.app.messaging.models import OutgoingMail
from vocboard.app.submissions.models import Submission, TrainingAnnotation
from vocboard.migrations import upgrade
from vocboard.migrations.run import config

REVISIONS = [each.revision for each in ScriptDirectory.from_config(config("sqlite://")).walk_revisions()][::-1]
# From where everything is migrated in one transaction: each of the newest, and some of those that no longer change.
STARTS = [*REVISIONS[:-6:6], *REVISIONS[-6:]]


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.services)])
def empty_url(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue(f"empty_{request.param}_url"))


def filled(url: str, revision: str) -> Filled:
    with closing(Database(url)) as database, database.engine.execution_options(writing=True).begin() as connection:
        if revision != REVISIONS[-1]:
            install_triggers(connection)
        return fill(connection)


def check_leaderboards(url: str, expected: Iterable[Filled]) -> None:
    with closing(Database(url)) as database:
        boards = Boards(database)
        for added in expected:
            board = boards.read(added.challenge, COMPETITION, None, phase_key=MAIN_PHASE).board
            assert [(row.rank, row.method, row.mean.value) for row in board.rows] == [
                (1, added.methods[0], max(MEANS)),
                (2, added.methods[1], min(MEANS)),
            ]
            scores = [dict(zip(board.classes, row.cells, strict=True)) for row in board.rows]
            for name in CLASSES:
                assert [row[name].value for row in scores] == [max(MEANS), min(MEANS)]
        with database.writing() as session:  # the triggers that tell of changes are there again
            session.execute(update(Submission).values(published_at=None))
        assert len(boards.read(added.challenge, COMPETITION, None, phase_key=MAIN_PHASE).board.rows) == 0


def test_a_database_in_use_since_the_first_revision_is_migrated_step_by_step(empty_url: str) -> None:
    expected = []
    for revision in REVISIONS:
        command.upgrade(config(empty_url), revision)
        expected.append(filled(empty_url, revision))
    check_leaderboards(empty_url, expected)


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.services)])
def copies(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, Callable[[], str]]]:
    """Yield the URL of an empty database, and a function that copies it and returns the copy's URL."""
    url = str(request.getfixturevalue(f"empty_{request.param}_url"))
    if request.param == "sqlite":
        source = Path(url.removeprefix("sqlite:///"))
        yield url, lambda: f"sqlite:///{shutil.copy(source, tmp_path / f'{uuid4()}.sqlite')}"
        return
    server: PostgresServer = request.getfixturevalue("postgres")
    made: list[URL] = []

    def copy() -> str:
        made.append(server.create_database(template=make_url(url).database))
        return in_full(made[-1])

    yield url, copy
    for each in made:
        server.drop_database(each)


def test_a_filled_database_is_migrated_in_one_transaction(copies: tuple[str, Callable[[], str]]) -> None:
    empty, copy = copies
    for revision in STARTS:
        command.upgrade(config(empty), revision)
        url = copy()
        expected = filled(url, revision)
        upgrade(url)
        check_leaderboards(url, [expected])


def test_email_that_waits_is_still_sent_and_dates_still_freeze(empty_url: str) -> None:
    command.upgrade(config(empty_url), "2026_11_24_0015_phases_always")
    filled(empty_url, "2026_11_24_0015_phases_always")
    closes_at, freezes_at = TIME + timedelta(days=1), TIME + timedelta(days=2)
    with closing(Database(empty_url)) as database, database.writing() as session:
        main = session.scalars(select(ChallengePhase.id)).one()
        session.execute(update(ChallengePhase).values(freeze=Freeze.DATE, closes_at=closes_at, freezes_at=freezes_at))
        waiting = session.execute(text("SELECT id FROM outbox")).scalars().all()
        session.execute(text("UPDATE outbox SET attempts = 3, last_error = 'busy', sent_at = NULL, failed_at = NULL"))
    upgrade(empty_url)
    with closing(Database(empty_url)) as database, database.reading() as session:
        jobs = session.scalars(select(Job).where(Job.kind == Kind.MAIL)).all()
        assert [(job.attempts, job.detail, job.finished_at) for job in jobs] == [(3, "busy", None)] * len(waiting)
        assert {job.key for job in jobs} == set(session.scalars(select(OutgoingMail.id)))
        assert {job.not_before for job in jobs} == {TIME}
        [freeze] = session.scalars(select(Job).where(Job.kind == Kind.FREEZE))
        assert (freeze.key, freeze.not_before, freeze.finished_at) == (main, freezes_at, None)


def test_declarations_of_columns_become_entries_by_name(empty_url: str) -> None:
    command.upgrade(config(empty_url), "2026_11_24_0630_mail_jobs")
    filled(empty_url, "2026_11_24_0630_mail_jobs")
    said = 'ImageNet, "and" more; Müller\'s'
    with closing(Database(empty_url)) as database, database.writing() as session:
        first, second = session.execute(text("SELECT id FROM submissions ORDER BY id")).scalars()
        columns = "training_data = :said, training_annotation = :annotation, flickr_images = :flickr"
        change = text(f"UPDATE submissions SET {columns}, flickr_count = 3 WHERE id = :id")
        session.execute(change, {"id": first, "said": said, "annotation": "other_annotation", "flickr": "yes"})
        session.execute(change, {"id": second, "said": "", "annotation": None, "flickr": None})
    upgrade(empty_url)
    with closing(Database(empty_url)) as database, database.reading() as session:
        made, nothing = session.scalars(select(Submission).order_by(Submission.id))
        assert made.declarations == {
            "training_data": said,
            "training_annotation": "other_annotation",
            "flickr_images": "yes",
        }
        assert (made.flickr_count, made.training_annotation) == (3, TrainingAnnotation.OTHER_ANNOTATION)
        assert nothing.declarations == {}
