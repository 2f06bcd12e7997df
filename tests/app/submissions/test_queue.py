"""The queue is fair, and gives a submission to one worker at a time."""

import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from tests.support.backstage import Backstage
from vocboard.app.submissions import queue
from vocboard.app.submissions.models import State
from vocboard.app.work_queues.leased_queue import Released
from vocboard.app.work_queues.state_queue import Claim

LEASE = timedelta(minutes=1)
EXPIRED = timedelta(0)


def claim(backstage: Backstage, lease: timedelta = LEASE) -> Claim:
    with backstage.database.writing() as session:
        claimed = queue.claim(session, lease=lease)
    assert claimed is not None
    return claimed


def finish(backstage: Backstage, claimed: Claim) -> bool:
    with backstage.database.writing() as session:
        return queue.finish(session, claimed)


def position(backstage: Backstage, submission_id: uuid.UUID) -> int | None:
    with backstage.database.reading() as session:
        return queue.queue_position(session, backstage.submission(submission_id))


def test_serves_one_person_in_the_order_of_submission(backstage: Backstage) -> None:
    challenge, user = backstage.challenge(), backstage.user()
    submissions = [backstage.submit(user, challenge) for _ in range(3)]
    assert [claim(backstage).id for _ in range(3)] == submissions


@pytest.mark.parametrize("workers", [1, 3])
def test_nobody_waits_behind_one_persons_many_uploads(backstage: Backstage, workers: int) -> None:
    challenge, busy, late = backstage.challenge(), backstage.user(), backstage.user()
    many = [backstage.submit(busy, challenge) for _ in range(10)]
    running = [claim(backstage) for _ in range(workers)]
    one = backstage.submit(late, challenge)
    assert position(backstage, one) == 1
    assert position(backstage, many[workers]) == 2
    finish(backstage, running[0])
    assert claim(backstage).id == one


def test_people_who_all_have_many_take_turns(backstage: Backstage) -> None:
    challenge = backstage.challenge()
    people = [backstage.user() for _ in range(3)]
    owner = {backstage.submit(person, challenge): person.id for person in people for _ in range(3)}
    served = []
    for _ in range(9):
        claimed = claim(backstage)
        finish(backstage, claimed)
        served.append(owner[claimed.id])
    ids = [person.id for person in people]
    assert served == ids * 3


def test_positions_are_the_order_in_which_submissions_are_claimed(backstage: Backstage) -> None:
    challenge, first, second = backstage.challenge(), backstage.user(), backstage.user()
    submissions = [backstage.submit(person, challenge) for person in (first, first, first, second, second)]
    by_position = sorted(submissions, key=lambda one: position(backstage, one) or 0)
    assert [position(backstage, one) for one in by_position] == [1, 2, 3, 4, 5]
    claimed = []
    for _ in submissions:
        now_served = claim(backstage)
        finish(backstage, now_served)
        claimed.append(now_served.id)
    assert claimed == by_position
    assert position(backstage, claimed[0]) is None


def test_parallel_workers_never_get_the_same_submission(backstage: Backstage) -> None:
    challenge, users = backstage.challenge(), [backstage.user() for _ in range(4)]
    submissions = {backstage.submit(users[number % 4], challenge) for number in range(12)}
    with ThreadPoolExecutor(6) as workers:
        claimed = [done.result() for done in [workers.submit(claim, backstage) for _ in range(12)]]
    assert {one.id for one in claimed} == submissions
    with backstage.database.writing() as session:
        assert queue.claim(session, lease=LEASE) is None


def test_a_worker_that_lost_its_claim_can_store_nothing(backstage: Backstage) -> None:
    submission_id = backstage.submit(backstage.user(), backstage.challenge())
    slow = claim(backstage, EXPIRED)
    with backstage.database.writing() as session:
        assert queue.release_expired(session, attempts=3).returned == 1
    fresh = claim(backstage)
    assert fresh.id == slow.id == submission_id
    with backstage.database.writing() as session:
        assert not queue.renew(session, slow, lease=LEASE)
        assert not queue.fail(session, slow, failure="", detail="")
        assert not queue.finish(session, slow)
    assert backstage.submission(submission_id).state is State.EVALUATING
    assert finish(backstage, fresh)


def test_a_renewed_lease_does_not_expire(backstage: Backstage) -> None:
    submission_id = backstage.submit(backstage.user(), backstage.challenge())
    claimed = claim(backstage, EXPIRED)
    with backstage.database.writing() as session:
        assert queue.renew(session, claimed, lease=LEASE)
        assert queue.release_expired(session, attempts=3) == Released(returned=0, given_up=0)
    assert backstage.submission(submission_id).lease_id == claimed.lease_id


def test_putting_back_does_not_count_as_an_attempt(backstage: Backstage) -> None:
    backstage.submit(backstage.user(), backstage.challenge())
    claimed = claim(backstage)
    with backstage.database.writing() as session:
        assert queue.put_back(session, claimed)
    assert claim(backstage).attempt == 1
