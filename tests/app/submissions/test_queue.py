"""The queue is fair, and gives a submission to one worker at a time."""

import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from tests.support.backend import Backend
from tests.support.jobs import claim_next, stores
from vocboard.app.jobs import service as jobs
from vocboard.app.jobs.models import Kind
from vocboard.app.jobs.service import Claim
from vocboard.app.submissions import queue
from vocboard.app.submissions.models import State

LEASE = timedelta(minutes=1)
EXPIRED = timedelta(0)


def claim(backend: Backend, lease: timedelta = LEASE) -> Claim:
    claimed = claim_next(backend.database, Kind.EVALUATION, lease=lease)
    assert claimed is not None
    return claimed


def finish(backend: Backend, claimed: Claim) -> bool:
    return stores(backend.database, queue.finish, claimed)


def position(backend: Backend, submission_id: uuid.UUID) -> int | None:
    with backend.database.reading() as session:
        return queue.queue_position(session, backend.submission(submission_id))


@pytest.mark.postgres
def test_serves_one_person_in_the_order_of_submission(backend: Backend) -> None:
    challenge, user = backend.challenge(), backend.user()
    submissions = [backend.submit(user, challenge) for _ in range(3)]
    assert [claim(backend).key for _ in range(3)] == submissions


@pytest.mark.parametrize("workers", [1, 3])
def test_nobody_waits_behind_one_persons_many_uploads(backend: Backend, workers: int) -> None:
    challenge, busy, late = backend.challenge(), backend.user(), backend.user()
    many = [backend.submit(busy, challenge) for _ in range(10)]
    running = [claim(backend) for _ in range(workers)]
    one = backend.submit(late, challenge)
    assert position(backend, one) == 1
    assert position(backend, many[workers]) == 2
    finish(backend, running[0])
    assert claim(backend).key == one


def test_a_claim_that_cannot_look_at_the_whole_queue_is_fair_too(
    backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "_CONSIDERED", 2)
    monkeypatch.setattr(jobs, "_claiming", jobs._claiming.__wrapped__)  # statements that were built before have 200
    challenge, busy, late = backend.challenge(), backend.user(), backend.user()
    for _ in range(8):
        backend.submit(busy, challenge)
    finish(backend, claim(backend))
    ones = [backend.submit(late, challenge) for _ in range(2)]
    assert [position(backend, one) for one in ones] == [3, 5]
    claimed = [claim(backend).key for _ in range(5)]
    assert [one in claimed[: 3 + 2 * number] for number, one in enumerate(ones)] == [True, True]


@pytest.mark.postgres
def test_people_who_all_have_many_take_turns(backend: Backend) -> None:
    challenge = backend.challenge()
    people = [backend.user() for _ in range(3)]
    owner = {backend.submit(person, challenge): person.id for person in people for _ in range(3)}
    served = []
    for _ in range(9):
        claimed = claim(backend)
        finish(backend, claimed)
        served.append(owner[claimed.key])
    ids = [person.id for person in people]
    assert served == ids * 3


@pytest.mark.postgres
def test_positions_are_the_order_in_which_submissions_are_claimed(backend: Backend) -> None:
    challenge, first, second = backend.challenge(), backend.user(), backend.user()
    submissions = [backend.submit(person, challenge) for person in (first, first, first, second, second)]
    by_position = sorted(submissions, key=lambda one: position(backend, one) or 0)
    assert [position(backend, one) for one in by_position] == [1, 2, 3, 4, 5]
    claimed = []
    for _ in submissions:
        now_served = claim(backend)
        finish(backend, now_served)
        claimed.append(now_served.key)
    assert claimed == by_position
    assert position(backend, claimed[0]) is None


@pytest.mark.postgres
def test_parallel_workers_never_get_the_same_submission(backend: Backend) -> None:
    challenge, users = backend.challenge(), [backend.user() for _ in range(4)]
    submissions = {backend.submit(users[number % 4], challenge) for number in range(12)}
    with ThreadPoolExecutor(6) as workers:
        claimed = [done.result() for done in [workers.submit(claim, backend) for _ in range(12)]]
    assert {one.key for one in claimed} == submissions
    assert claim_next(backend.database, Kind.EVALUATION) is None


@pytest.mark.postgres
def test_a_worker_that_lost_its_claim_can_store_nothing(backend: Backend) -> None:
    submission_id = backend.submit(backend.user(), backend.challenge())
    slow = claim(backend, EXPIRED)
    fresh = claim(backend)
    assert fresh.key == slow.key == submission_id
    with backend.database.writing() as session:
        assert not jobs.renew(session, slow, lease=LEASE)
    assert not stores(backend.database, queue.fail, slow, failure="", detail="")
    assert not finish(backend, slow)
    assert backend.submission(submission_id).state is State.EVALUATING
    assert finish(backend, fresh)


def test_a_renewed_lease_does_not_expire(backend: Backend) -> None:
    backend.submit(backend.user(), backend.challenge())
    claimed = claim(backend, EXPIRED)
    with backend.database.writing() as session:
        assert jobs.renew(session, claimed, lease=LEASE)
    assert claim_next(backend.database, Kind.EVALUATION) is None


def test_putting_back_does_not_count_as_an_attempt(backend: Backend) -> None:
    backend.submit(backend.user(), backend.challenge())
    claimed = claim(backend)
    assert stores(backend.database, queue.put_back, claimed)
    assert claim(backend).attempt == 1
