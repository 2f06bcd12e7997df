"""Limits on uploads hold from the first byte on, for people, addresses and the whole server."""

import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from sqlalchemy import func, select, update

from tests.support.backstage import Backstage
from vocboard.app.accounts.models import User
from vocboard.app.database import now
from vocboard.app.errors import LimitedError, TooLargeError
from vocboard.app.uploads import service
from vocboard.app.uploads.limits import BYTES_PERIOD, LEASE, PersonLimits, ServerLimits
from vocboard.app.uploads.models import Upload, UploadKind
from vocboard.app.uploads.service import Attempt

HERE = "192.0.2.7"
DAY = timedelta(days=1)
SERVER = ServerLimits(concurrent_from_address=100, concurrent=100)


def person(*, attempts: int = 100, concurrent: int = 100, bytes_per_day: int = 1000) -> PersonLimits:
    return PersonLimits(attempts, concurrent, bytes_per_day, 100, DAY, 1)


def begin(
    backstage: Backstage,
    user: User,
    limits: PersonLimits,
    *,
    address: str = HERE,
    kind: UploadKind = UploadKind.SUBMISSION,
    byte_count: int = 10,
    server: ServerLimits = SERVER,
) -> uuid.UUID:
    with backstage.database.writing() as session:
        return service.begin(session, Attempt(user.id, address, kind, byte_count), person=limits, server=server)


def end(backstage: Backstage, upload_id: uuid.UUID, received_bytes: int = 10) -> None:
    with backstage.database.writing() as session:
        service.end(session, upload_id, received_bytes=received_bytes)


def make_older(backstage: Backstage, age: timedelta) -> None:
    with backstage.database.writing() as session:
        session.execute(update(Upload).values(created_at=now() - age))


def test_an_attempt_counts_for_an_hour_whatever_became_of_it(backstage: Backstage) -> None:
    user, limits = backstage.user(), person(attempts=2)
    end(backstage, begin(backstage, user, limits), received_bytes=0)
    end(backstage, begin(backstage, user, limits))
    with pytest.raises(LimitedError) as refused:
        begin(backstage, user, limits)
    assert timedelta(minutes=59) < refused.value.allowed_at - now() <= timedelta(hours=1)
    begin(backstage, backstage.user(), limits)
    begin(backstage, user, limits, kind=UploadKind.GROUND_TRUTH)
    make_older(backstage, timedelta(minutes=61))
    begin(backstage, user, limits)


def test_of_parallel_uploads_only_so_many_are_in_progress(backstage: Backstage) -> None:
    user, limits = backstage.user(), person(concurrent=2)

    def attempt(_: int) -> bool:
        try:
            begin(backstage, user, limits)
        except LimitedError:
            return False
        return True

    with ThreadPoolExecutor(20) as pool:
        assert sum(pool.map(attempt, range(20))) == 2


def test_an_upload_that_has_ended_makes_room(backstage: Backstage) -> None:
    user, limits = backstage.user(), person(concurrent=1)
    first = begin(backstage, user, limits)
    with pytest.raises(LimitedError, match="in progress"):
        begin(backstage, user, limits)
    end(backstage, first)
    begin(backstage, user, limits)


def test_a_killed_process_holds_its_places_for_its_lease_alone(backstage: Backstage) -> None:
    user, limits = backstage.user(), person(concurrent=1)
    upload_id = begin(backstage, user, limits)
    with backstage.database.writing() as session:
        service.renew(session, upload_id)
    with pytest.raises(LimitedError):
        begin(backstage, user, limits)
    with backstage.database.writing() as session:
        [expires_at] = session.scalars(select(Upload.lease_expires_at))
        assert expires_at is not None
        assert expires_at - now() <= LEASE
        session.execute(update(Upload).values(lease_expires_at=now() - timedelta(seconds=1)))
    begin(backstage, user, limits)


def test_bytes_count_for_a_day_as_announced_then_as_received(backstage: Backstage) -> None:
    user, limits = backstage.user(), person(bytes_per_day=100)
    first = begin(backstage, user, limits, byte_count=80)
    with pytest.raises(LimitedError, match="24 hours"):
        begin(backstage, user, limits, byte_count=30)
    end(backstage, first, received_bytes=60)
    end(backstage, begin(backstage, user, limits, byte_count=40), received_bytes=40)
    with pytest.raises(LimitedError, match="24 hours") as refused:
        begin(backstage, user, limits, byte_count=1)
    assert timedelta(hours=23) < refused.value.allowed_at - now() <= DAY
    make_older(backstage, BYTES_PERIOD)
    begin(backstage, user, limits, byte_count=100)


def test_what_exceeds_a_whole_day_is_too_large(backstage: Backstage) -> None:
    with pytest.raises(TooLargeError):
        begin(backstage, backstage.user(), person(bytes_per_day=100), byte_count=101)


def test_the_accounts_of_one_address_share_its_places(backstage: Backstage) -> None:
    limits, server = person(), ServerLimits(concurrent_from_address=2, concurrent=100)
    for _ in range(2):
        begin(backstage, backstage.user(), limits, server=server)
    with pytest.raises(LimitedError, match="your network"):
        begin(backstage, backstage.user(), limits, server=server)
    begin(backstage, backstage.user(), limits, server=server, address="198.51.100.1")


def test_from_half_of_all_places_on_there_is_one_for_each_person(backstage: Backstage) -> None:
    limits, server = person(), ServerLimits(concurrent_from_address=100, concurrent=4)
    greedy = backstage.user()
    for _ in range(2):
        begin(backstage, greedy, limits, server=server)
    with pytest.raises(LimitedError, match="busy with other uploads"):
        begin(backstage, greedy, limits, server=server)
    for _ in range(2):
        begin(backstage, backstage.user(), limits, server=server)
    with pytest.raises(LimitedError, match="busy with other uploads"):
        begin(backstage, backstage.user(), limits, server=server)


def test_what_no_limit_counts_any_more_is_forgotten(backstage: Backstage) -> None:
    user, limits = backstage.user(), person()
    end(backstage, begin(backstage, user, limits))
    in_progress = begin(backstage, user, limits)
    make_older(backstage, BYTES_PERIOD)
    begin(backstage, user, limits)
    with backstage.database.reading() as session:
        assert session.scalar(select(func.count()).select_from(Upload)) == 2
        assert session.get(Upload, in_progress) is not None
