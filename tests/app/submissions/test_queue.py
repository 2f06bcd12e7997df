"""The queue is fair, and gives a submission to one worker at a time."""

import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from tests.support.backend import Backend
from vocboard.app.submissions import queue
from vocboard.app.submissions.models import State
from vocboard.app.work_queues.leased_queue import Released
from vocboard.app.work_queues.state_queue import Claim

LEASE = timedelta(minutes=1)
EXPIRED = timedelta(0)


def claim(backend: Backend, lease: timedelta = LEASE) -> Claim:
    with backend.database.writing() as session:
        claimed = queue.claim(session, lease=lease)
    assert claimed is not None
    return claimed


def finish(backend: Backend, claimed: Claim) -> bool:
    with backend.database.writing() as session:
        return queue.finish(session, claimed)


def position(backend: Backend, submission_id: uuid.UUID) -> int | None:
    with backend.database.reading() as session:
        return queue.queue_position(session, backend.submission(submission_id))


def test_serves_one_person_in_the_order_of_submission(backend: Backend) -> None:
    challenge, user = backend.challenge(), backend.user()
    submissions = [backend.submit(user, challenge) for _ in range(3)]
    assert [claim(backend).id for _ in range(3)] == submissions


@pytest.mark.parametrize("workers", [1, 3])
def test_nobody_waits_behind_one_persons_many_uploads(backend: Backend, workers: int) -> None:
    challenge, busy, late = backend.challenge(), backend.user(), backend.user()
    many = [backend.submit(busy, challenge) for _ in range(10)]
    running = [claim(backend) for _ in range(workers)]
    one = backend.submit(late, challenge)
    assert position(backend, one) == 1
    assert position(backend, many[workers]) == 2
    finish(backend, running[0])
    assert claim(backend).id == one


def test_people_who_all_have_many_take_turns(backend: Backend) -> None:
    challenge = backend.challenge()
    people = [backend.user() for _ in range(3)]
    owner = {backend.submit(person, challenge): person.id for person in people for _ in range(3)}
    served = []
    for _ in range(9):
        claimed = claim(backend)
        finish(backend, claimed)
        served.append(owner[claimed.id])
    ids = [person.id for person in people]
    assert served == ids * 3


def test_positions_are_the_order_in_which_submissions_are_claimed(backend: Backend) -> None:
    challenge, first, second = backend.challenge(), backend.user(), backend.user()
    submissions = [backend.submit(person, challenge) for person in (first, first, first, second, second)]
    by_position = sorted(submissions, key=lambda one: position(backend, one) or 0)
    assert [position(backend, one) for one in by_position] == [1, 2, 3, 4, 5]
    claimed = []
    for _ in submissions:
        now_served = claim(backend)
        finish(backend, now_served)
        claimed.append(now_served.id)
    assert claimed == by_position
    assert position(backend, claimed[0]) is None


def test_parallel_workers_never_get_the_same_submission(backend: Backend) -> None:
    challenge, users = backend.challenge(), [backend.user() for _ in range(4)]
    submissions = {backend.submit(users[number % 4], challenge) for number in range(12)}
    with ThreadPoolExecutor(6) as workers:
        claimed = [done.result() for done in [workers.submit(claim, backend) for _ in range(12)]]
    assert {one.id for one in claimed} == submissions
    with backend.database.writing() as session:
        assert queue.claim(session, lease=LEASE) is None


def test_a_worker_that_lost_its_claim_can_store_nothing(backend: Backend) -> None:
    submission_id = backend.submit(backend.user(), backend.challenge())
    slow = claim(backend, EXPIRED)
    with backend.database.writing() as session:
        assert queue.release_expired(session, attempts=3).returned == 1
    fresh = claim(backend)
    assert fresh.id == slow.id == submission_id
    with backend.database.writing() as session:
        assert not queue.renew(session, slow, lease=LEASE)
        assert not queue.fail(session, slow, failure="", detail="")
        assert not queue.finish(session, slow)
    assert backend.submission(submission_id).state is State.EVALUATING
    assert finish(backend, fresh)


def test_a_renewed_lease_does_not_expire(backend: Backend) -> None:
    submission_id = backend.submit(backend.user(), backend.challenge())
    claimed = claim(backend, EXPIRED)
    with backend.database.writing() as session:
        assert queue.renew(session, claimed, lease=LEASE)
        assert queue.release_expired(session, attempts=3) == Released(returned=0, given_up=0)
    assert backend.submission(submission_id).lease_id == claimed.lease_id


def test_putting_back_does_not_count_as_an_attempt(backend: Backend) -> None:
    backend.submit(backend.user(), backend.challenge())
    claimed = claim(backend)
    with backend.database.writing() as session:
        assert queue.put_back(session, claimed)
    assert claim(backend).attempt == 1
