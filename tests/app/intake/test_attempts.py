"""Limits on uploads hold from the first byte on, for people, addresses and the whole server."""

import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import datetime, timedelta, tzinfo

import pytest
from sqlalchemy import func, select, update

from tests.support.backend import Backend
from tests.support.factories import make_user
from vocboard.app import database as app_database
from vocboard.app.accounts.models import User
from vocboard.app.database import Database, now
from vocboard.app.errors import LimitedError, TooLargeError
from vocboard.app.intake import attempts as service
from vocboard.app.intake.attempts import Rejected
from vocboard.app.intake.limits import BYTES_PERIOD, LEASE, NEW_ACCOUNT, Limits, Place, is_new
from vocboard.app.intake.models import Upload, UploadKind

HERE = "192.0.2.7"
DAY = timedelta(days=1)


def given(
    *,
    attempts: int = 100,
    concurrent: int = 100,
    bytes_per_day: int = 1000,
    from_address: int = 100,
    in_all: int = 100,
    kept_for: timedelta = timedelta(),
) -> Limits:
    return Limits(attempts, concurrent, bytes_per_day, 100, DAY, 1, from_address, in_all, rejected_kept_for=kept_for)


def begin(
    backend: Backend,
    user: User,
    limits: Limits,
    *,
    address: str = HERE,
    kind: UploadKind = UploadKind.SUBMISSION,
    byte_count: int = 10,
) -> uuid.UUID:
    with backend.database.writing() as session:
        created_at = session.get_one(User, user.id).created_at
        return service.begin(session, Place(user.id, address, kind, byte_count, is_new(created_at)), limits)


def end(backend: Backend, upload_id: uuid.UUID, received_bytes: int = 10) -> None:
    with backend.database.writing() as session:
        service.end(session, upload_id, received_bytes=received_bytes)


def make_older(backend: Backend, age: timedelta) -> None:
    with backend.database.writing() as session:
        session.execute(update(Upload).values(created_at=now() - age))


def test_an_attempt_counts_for_an_hour_whatever_became_of_it(backend: Backend) -> None:
    user, limits = backend.user(), given(attempts=2)
    end(backend, begin(backend, user, limits), received_bytes=0)
    end(backend, begin(backend, user, limits))
    with pytest.raises(LimitedError) as refused:
        begin(backend, user, limits)
    assert timedelta(minutes=59) < refused.value.allowed_at - now() <= timedelta(hours=1)
    begin(backend, backend.user(), limits)
    begin(backend, user, limits, kind=UploadKind.GROUND_TRUTH)
    make_older(backend, timedelta(minutes=61))
    begin(backend, user, limits)


def test_of_parallel_uploads_only_so_many_are_in_progress(backend: Backend) -> None:
    user, limits = backend.user(), given(concurrent=2)

    def attempt(_: int) -> bool:
        try:
            begin(backend, user, limits)
        except LimitedError:
            return False
        return True

    with ThreadPoolExecutor(20) as pool:
        assert sum(pool.map(attempt, range(20))) == 2


def test_an_upload_that_has_ended_makes_room(backend: Backend) -> None:
    user, limits = backend.user(), given(concurrent=1)
    first = begin(backend, user, limits)
    with pytest.raises(LimitedError, match="in progress"):
        begin(backend, user, limits)
    end(backend, first)
    with backend.database.writing() as session:
        service.renew(session, first, limits)  # which was on its way when the upload ended
    begin(backend, user, limits)


def test_a_killed_process_holds_its_places_for_its_lease_alone(backend: Backend) -> None:
    user, limits = backend.user(), given(concurrent=1)
    upload_id = begin(backend, user, limits)
    with backend.database.writing() as session:
        assert service.renew(session, upload_id, limits) == limits.bytes_per_second
    with pytest.raises(LimitedError):
        begin(backend, user, limits)
    with backend.database.writing() as session:  # the next part of the same upload takes its own place
        service.begin_part(session, upload_id, Place(user.id, HERE, UploadKind.RESUMABLE, 0, is_new=False), limits)
    with backend.database.writing() as session:
        [expires_at] = session.scalars(select(Upload.lease_expires_at))
        assert expires_at is not None
        assert expires_at - now() <= LEASE
        session.execute(update(Upload).values(lease_expires_at=now() - timedelta(seconds=1)))
    begin(backend, user, limits)


def test_bytes_count_for_a_day_as_announced_then_as_received(backend: Backend) -> None:
    user, limits = backend.user(), given(bytes_per_day=100)
    first = begin(backend, user, limits, byte_count=80)
    with pytest.raises(LimitedError, match="24 hours"):
        begin(backend, user, limits, byte_count=30)
    end(backend, first, received_bytes=60)
    end(backend, begin(backend, user, limits, byte_count=40), received_bytes=40)
    with pytest.raises(LimitedError, match="24 hours") as refused:
        begin(backend, user, limits, byte_count=1)
    assert timedelta(hours=23) < refused.value.allowed_at - now() <= DAY
    make_older(backend, BYTES_PERIOD)
    begin(backend, user, limits, byte_count=100)


def test_what_exceeds_a_whole_day_is_too_large(backend: Backend) -> None:
    with pytest.raises(TooLargeError):
        begin(backend, backend.user(), given(bytes_per_day=100), byte_count=101)


@pytest.mark.services
@pytest.mark.parametrize("wrong", [timedelta(hours=-1), timedelta(hours=1)], ids=["slow", "fast"])
@pytest.mark.parametrize("renews", [False, True])
def test_a_machine_with_a_wrong_clock_holds_places_for_as_long_as_others_do(
    postgres_url: str, wrong: timedelta, renews: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Wrong(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            return datetime.now(tz) + wrong

    with closing(Database(postgres_url)) as database, database.writing() as session:
        place = Place(make_user(session).id, HERE, UploadKind.SUBMISSION, 10, is_new=True)
        with monkeypatch.context() as machine:
            machine.setattr(app_database, "datetime", Wrong)
            upload_id = service.begin(session, place, given())
            if renews:
                service.renew(session, upload_id, given())
        assert service.is_in_progress(session, upload_id)
        expires_at = session.scalars(select(Upload.lease_expires_at)).one()
        assert expires_at is not None
        assert expires_at - now() <= LEASE


def test_the_accounts_of_one_address_share_its_places(backend: Backend) -> None:
    limits = given(from_address=2)
    for _ in range(2):
        begin(backend, backend.user(), limits)
    with pytest.raises(LimitedError, match="your network"):
        begin(backend, backend.user(), limits)
    begin(backend, backend.user(), limits, address="198.51.100.1")


def test_places_are_shared_as_the_policy_says(backend: Backend) -> None:
    """`test_places` has the rest: here two of four places are for accounts that are new, as these are."""
    limits = given(in_all=4)
    users = [backend.user() for _ in range(4)]
    first = begin(backend, users[0], limits)
    with pytest.raises(LimitedError, match="busy with other uploads"):
        begin(backend, users[0], limits)
    begin(backend, users[1], limits)
    with pytest.raises(LimitedError, match="busy with other uploads"):
        begin(backend, users[2], limits)
    with backend.database.writing() as session:
        assert service.renew(session, first, limits) == 2 * limits.bytes_per_second
        session.get_one(User, users[2].id).created_at -= NEW_ACCOUNT
    begin(backend, users[2], limits)
    end(backend, first)
    begin(backend, users[3], limits)


def test_what_no_limit_counts_any_more_is_forgotten(backend: Backend) -> None:
    user, limits = backend.user(), given()
    end(backend, begin(backend, user, limits))
    in_progress = begin(backend, user, limits)
    make_older(backend, BYTES_PERIOD)
    begin(backend, user, limits)
    with backend.database.reading() as session:
        assert session.scalar(select(func.count()).select_from(Upload)) == 2
        assert session.get(Upload, in_progress) is not None


def test_organisers_count_rejected_uploads_for_as_long_as_the_settings_say(backend: Backend) -> None:
    challenge, one, other = backend.challenge(), backend.user(), backend.user()
    limits = given(kept_for=timedelta(days=30))
    for user, codes in ((one, ["b", "a", "a"]), (one, ["a"]), (other, ["a"])):
        upload = begin(backend, user, limits)
        end(backend, upload)
        with backend.database.writing() as session:
            service.reject(session, upload, challenge.id, codes)

    def rejected(days: int = 30) -> Rejected:
        with backend.database.reading() as session:
            return service.rejected(session, challenge.id, kept_for=timedelta(days=days))

    make_older(backend, timedelta(days=20))
    begin(backend, one, limits)
    assert rejected() == Rejected(uploads=3, people=2, codes=(("a", 3, 2), ("b", 1, 1)))
    assert rejected(days=10) == Rejected(0, 0, ())
    make_older(backend, timedelta(days=30))
    begin(backend, one, limits)
    assert rejected(days=100).uploads == 0
