"""Jobs are unique while they are pending, and claimed by priority; who loses a claim can store nothing."""

import contextlib
import uuid
from collections.abc import Collection, Iterator
from datetime import datetime, timedelta, tzinfo

import pytest
from sqlalchemy import select, update

from tests.support.jobs import claim_next, stores
from vocboard.app import database as app_database
from vocboard.app.database import Database, OutcomeError, now
from vocboard.app.jobs import service as jobs
from vocboard.app.jobs.models import Job, Kind
from vocboard.app.jobs.service import Claim

KEY = uuid.UUID(int=1)
LEASE = timedelta(minutes=1)


def add(database: Database, *kinds: Kind) -> None:
    with database.writing() as session:
        for kind in kinds:
            jobs.add(session, kind, KEY)


def claim(database: Database, *kinds: Kind) -> Claim | None:
    with database.writing() as session:
        return jobs.claim(session, kinds or tuple(Kind), lease=LEASE)


def test_one_is_added_while_it_is_pending_and_again_after_it_is_done(database: Database) -> None:
    add(database, Kind.STATISTICS, Kind.STATISTICS)
    claimed = claim(database)
    add(database, Kind.STATISTICS)
    assert claim(database) is None
    assert stores(database, jobs.finish, claimed)
    add(database, Kind.STATISTICS)
    assert claim(database) is not None


def test_the_most_urgent_kind_is_first_and_only_jobs_of_kinds_that_are_asked_for(database: Database) -> None:
    add(database, Kind.SEQUENCES, Kind.BATCH, Kind.DIAGNOSIS)
    assert claim(database, Kind.DIAGNOSIS, Kind.SEQUENCES) is not None
    with database.writing() as session:
        jobs.add_all(session, Kind.BATCH, [(uuid.uuid4(), None)], priority=jobs.URGENT)
    add(database, Kind.EVALUATION)
    found = [claim(database) for _ in range(4)]
    assert [one and (one.kind, one.priority) for one in found] == [
        (Kind.BATCH, jobs.URGENT),
        (Kind.EVALUATION, jobs.PRIORITY[Kind.EVALUATION]),
        (Kind.BATCH, jobs.PRIORITY[Kind.BATCH]),
        (Kind.SEQUENCES, jobs.PRIORITY[Kind.SEQUENCES]),
    ]


@pytest.mark.parametrize(
    "lose",
    [
        lambda session: jobs.cancel(session, Kind.RESCORE, [KEY]),
        lambda session: jobs.add_again(session, Kind.RESCORE, KEY, urgent=True),
    ],
    ids=["cancelled", "added again"],
)
def test_who_has_lost_a_claim_can_neither_finish_nor_release(database: Database, lose: object) -> None:
    add(database, Kind.RESCORE)
    claimed = claim(database)
    with database.writing() as session:
        assert callable(lose)
        lose(session)
    for end in (jobs.finish, jobs.release, jobs.require_held):
        assert not stores(database, end, claimed)


def test_failed_ones_are_kept_and_can_be_tried_again(database: Database) -> None:
    add(database, Kind.DIAGNOSIS, Kind.STATISTICS)
    assert stores(database, jobs.finish, claim(database, Kind.STATISTICS))
    assert stores(database, jobs.finish, claim(database), failure="error", detail="RuntimeError")
    with database.writing() as session:
        session.execute(update(Job).values(finished_at=now() - 2 * jobs.KEPT))
        jobs.remove_old(session)
        assert session.scalars(select(Job.kind)).all() == [Kind.DIAGNOSIS]
        jobs.retry_failed(session, Kind.DIAGNOSIS, [KEY])
    again = claim_next(database, Kind.DIAGNOSIS)
    assert again.attempt == 1


def test_of_two_that_have_failed_for_the_same_one_is_tried_again(database: Database) -> None:
    for _ in range(2):
        add(database, Kind.DIAGNOSIS)
        assert stores(database, jobs.finish, claim(database), failure="error")
    for _ in range(2):  # the second time, one waits already
        with database.writing() as session:
            jobs.retry_failed(session, Kind.DIAGNOSIS, [KEY])
    assert claim(database) is not None
    assert claim(database) is None


@pytest.mark.services
@pytest.mark.parametrize("wrong", [timedelta(hours=-1), timedelta(hours=1)], ids=["slow", "fast"])
def test_a_machine_with_a_wrong_clock_claims_and_adds_as_others_do(
    postgres_url: str, wrong: timedelta, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Wrong(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            return datetime.now(tz) + wrong

    @contextlib.contextmanager
    def there() -> Iterator[None]:
        with monkeypatch.context() as machine:
            machine.setattr(app_database, "datetime", Wrong)
            yield

    with contextlib.closing(Database(postgres_url)) as database:
        with there():
            add(database, Kind.DIAGNOSIS)
        claimed = claim(database)
        assert claimed is not None
        with there():
            assert claim(database) is None
        assert stores(database, jobs.release, claimed)
        with there():
            assert claim(database) is not None
        assert claim(database) is None
        with database.reading() as session:
            assert timedelta() < session.scalars(select(Job.not_before)).one() - now() <= LEASE


def test_workers_are_notified_after_the_commit_of_what_was_added_and_of_nothing_else(database_url: str) -> None:
    woken: list[set[Kind]] = []

    def wake(kinds: Collection[Kind]) -> None:
        with database.reading() as session:
            assert set(kinds) <= set(session.scalars(select(Job.kind)))  # they are committed
        woken.append(set(kinds))

    with contextlib.closing(Database(database_url, wake=wake)) as database:
        with contextlib.suppress(ZeroDivisionError), database.writing() as session:
            jobs.add(session, Kind.IMPORT, KEY)
            raise ZeroDivisionError
        with database.writing() as session:
            jobs.cancel(session, Kind.IMPORT, [KEY])
        assert not woken
        with contextlib.suppress(OutcomeError), database.writing() as session:
            jobs.add(session, Kind.MAIL, KEY)
            raise OutcomeError
        add(database, Kind.EVALUATION)
    assert [sorted(kinds) for kinds in woken] == [[Kind.MAIL], [Kind.EVALUATION]]
