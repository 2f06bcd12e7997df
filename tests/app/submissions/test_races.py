"""Withdrawing, publishing and evaluating the same submissions at the same time, on both databases."""

import contextlib
import random
import threading
import time
import uuid
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import update

from tests.app.test_teams import found_team
from tests.deadlocks import run
from tests.support.backend import Backend
from tests.support.jobs import claim_next, let_leases_end, stores
from tests.support.phases import complete
from tests.support.services import REAL
from vocboard.app.accounts.models import Role, User
from vocboard.app.challenges.models import Visibility
from vocboard.app.errors import ConflictError, InvalidInputError, NotFoundError, ServiceError
from vocboard.app.intake.report import EnteredCompetition
from vocboard.app.jobs.models import Kind
from vocboard.app.organising import archiving
from vocboard.app.participating import describing, publishing, teams
from vocboard.app.participating import withdrawing as service
from vocboard.app.submissions import queue
from vocboard.app.submissions.models import State, Submission

ROUNDS = 15


def test_nothing_withdrawn_is_published_and_nothing_scored_gives_its_quota_back(backend: Backend) -> None:
    user, challenge = backend.user(), backend.challenge()
    rng = random.Random(8)
    scored: set[uuid.UUID] = set()

    def evaluate() -> None:
        claim = claim_next(backend.database, Kind.EVALUATION)
        if claim is not None and stores(backend.database, queue.finish, claim):
            scored.add(claim.key)

    def changing(change: Callable[..., object], submission_id: uuid.UUID) -> Callable[[], None]:
        def run() -> None:
            try:
                with backend.database.writing() as session:
                    change(session, submission_id=submission_id, user=user)
            except ServiceError:
                pass

        return run

    submissions = [backend.submit(user, challenge, method_name=f"Method {n}") for n in range(ROUNDS)]
    with ThreadPoolExecutor(8) as pool:
        for submission_id in submissions:
            actions = [
                evaluate,
                evaluate,
                *(changing(publishing.publish, submission_id) for _ in range(2)),
                *(changing(service.withdraw, submission_id) for _ in range(2)),
                changing(publishing.unpublish, submission_id),
                changing(publishing.create_anonymous_link, submission_id),
            ]
            rng.shuffle(actions)
            together = threading.Barrier(len(actions))

            def at_once(action: Callable[[], None], together: threading.Barrier = together) -> None:
                together.wait()
                action()

            for done in [pool.submit(at_once, action) for action in actions]:
                done.result()
    for submission_id in submissions:
        row = backend.submission(submission_id)
        assert row.state is State.WITHDRAWN
        assert row.published_at is None
        assert row.anonymous_token_hash is None
        assert (row.quota_returned_at is None) or submission_id not in scored


def test_replacing_at_once_leaves_one_result_on_the_board(backend: Backend) -> None:
    """Three versions replace each other while the owner unpublishes and withdraws them: never two, and no deadlock."""
    user, challenge = backend.user(), backend.challenge()

    def change(action: Callable[..., object], submission_id: uuid.UUID, **given: object) -> None:
        with contextlib.suppress(ServiceError), backend.database.writing() as session:
            action(session, submission_id=submission_id, user=user, **given)

    for _ in range(4):
        versions = [backend.submit(user, challenge, method_name="Method") for _ in range(3)]
        with backend.database.writing() as session:
            session.execute(update(Submission).where(Submission.id.in_(versions)).values(state=State.SCORED))

        change(publishing.publish, versions[0], replace=True)
        together = threading.Barrier(6)

        def at_once(
            action: Callable[..., object],
            submission_id: uuid.UUID,
            together: threading.Barrier = together,
            **given: object,
        ) -> None:
            together.wait()
            change(action, submission_id, **given)

        with ThreadPoolExecutor(6) as pool:
            replacing = [pool.submit(at_once, publishing.publish, each, replace=True) for each in versions]
            others = [
                pool.submit(at_once, publishing.unpublish, versions[0]),
                pool.submit(at_once, service.withdraw, versions[1]),
                pool.submit(at_once, publishing.publish, versions[2]),
            ]
            for done in [*replacing, *others]:
                done.result()
        change(publishing.publish, versions[2], replace=True)
        rows = [backend.submission(each) for each in versions]
        assert [row.published_at is not None for row in rows] == [False, False, True]
        assert rows[1].state is State.WITHDRAWN


def test_a_rehearsal_of_a_draft_that_was_deleted_during_the_upload_is_told_so(backend: Backend) -> None:
    organiser = backend.user(role=Role.ORGANISER)
    challenge = backend.challenge(organiser=organiser, visibility=Visibility.DRAFT)
    with backend.database.writing() as session:
        archiving.delete_draft(session, challenge=complete(session, challenge.id), user=organiser)
    with pytest.raises(NotFoundError, match="This challenge does not exist"):
        backend.submit(organiser, challenge, is_rehearsal=True)


@pytest.mark.parametrize("set_up", [REAL], indirect=True)
def test_members_of_a_team_who_replace_each_others_results_at_once_do_not_end_in_a_deadlock(
    backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, bob, challenge = backend.user(), backend.user(), backend.challenge(team_size=2)
    with backend.database.writing() as session:
        found_team(session, challenge, ada, bob)
    entries = tuple(EnteredCompetition(key, ("car",)) for key in ("comp1", "comp3"))
    own = {user: backend.submit(user, challenge, method_name="Method", entries=entries) for user in (ada, bob)}

    def publish(user: User, **given: Any) -> None:
        with backend.database.writing() as session:
            publishing.publish(session, submission_id=own[user], user=user, **given)

    with backend.database.writing() as session:
        session.execute(update(Submission).values(state=State.SCORED))
    publish(ada, competitions=["comp1"])
    publish(bob, competitions=["comp3"])
    lock_method = vars(publishing)["_lock_method"]

    def lock_slowly(*given: Any) -> None:
        time.sleep(0.5)
        lock_method(*given)

    monkeypatch.setattr(publishing, "_lock_method", lock_slowly)
    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(publish, user, replace=True) for user in own]:
            done.result()
    rows = [backend.submission(each) for each in own.values()]
    assert sorted(row.published_at is None for row in rows) == [False, True]


def test_members_of_a_team_who_describe_at_once_lose_nothing(backend: Backend) -> None:
    ada, bob, challenge = backend.user(), backend.user(), backend.challenge(team_size=2)
    with backend.database.writing() as session:
        found_team(session, challenge, ada, bob)
    adas, bobs = (backend.submit(one, challenge, method_name=one.name) for one in (ada, bob))

    def at_once(change: Callable[..., Submission], *calls: tuple[User, uuid.UUID, dict[str, str]]) -> Future[None]:
        """Make two changes, of which the second begins before the first is committed."""

        def call(user: User, submission_id: uuid.UUID, changes: dict[str, str], seconds: float = 0) -> None:
            with backend.database.writing() as session:
                change(session, submission_id=submission_id, user=user, changes=changes)
                session.flush()
                time.sleep(seconds)

        with ThreadPoolExecutor(2) as pool:
            first = pool.submit(call, *calls[0], 0.6)
            time.sleep(0.3)
            second = pool.submit(call, *calls[1])
        first.result()
        return second

    named = {"method_name": "Ours"}
    with pytest.raises(InvalidInputError, match="another method of this name"):
        at_once(describing.describe, (ada, adas, named), (bob, bobs, named)).result()
    first, second = {"training_data": "trainval"}, {"flickr_images": "no"}
    at_once(describing.declare, (ada, adas, first), (bob, adas, second)).result()
    assert backend.submission(adas).declarations == first | second
    with ThreadPoolExecutor(1) as pool, backend.database.writing() as session:
        describing.describe(session, submission_id=bobs, user=bob, changes={"method_name": "Later"})
        session.flush()
        uploaded = pool.submit(backend.submit, ada, challenge, method_name="Later")
        time.sleep(0.3)
    assert backend.submission(uploaded.result()).method_id == backend.submission(bobs).method_id


def test_a_method_that_gets_the_name_of_another_while_its_team_joins_that_of_the_other_is_refused(
    backend: Backend,
) -> None:
    ada, bob, challenge = backend.user(), backend.user(), backend.challenge(team_size=2)
    adas, _ = (backend.submit(one, challenge, method_name=one.name) for one in (ada, bob))
    with backend.database.writing() as session:
        team = found_team(session, challenge, ada)
        _, token = teams.invite(session, team_id=team.id, user=ada, site="https://voc.example")

    def join() -> None:
        with backend.database.writing() as session:
            teams.accept(session, token=token, user=bob)

    with ThreadPoolExecutor(1) as pool:
        with backend.database.writing() as session:
            describing.describe(session, submission_id=adas, user=ada, changes={"method_name": bob.name})
            session.flush()
            joining = pool.submit(join)
            time.sleep(0.4)
        with pytest.raises(ConflictError, match="Both teams have a method of the name"):
            joining.result()


@pytest.mark.parametrize("action", [publishing.publish, publishing.create_anonymous_link])
def test_a_withdrawn_submission_stays_so(backend: Backend, action: Callable[..., object]) -> None:
    user, challenge = backend.user(), backend.challenge()
    submission_id = backend.submit(user, challenge)
    claim = claim_next(backend.database, Kind.EVALUATION)
    assert claim is not None
    with backend.database.writing() as session:
        service.withdraw(session, submission_id=submission_id, user=user)
    assert not stores(backend.database, queue.finish, claim)
    let_leases_end(backend.database)
    assert claim_next(backend.database, Kind.EVALUATION) is None
    with pytest.raises(ServiceError), backend.database.writing() as session:
        action(session, submission_id=submission_id, user=user)
    assert backend.submission(submission_id).quota_returned_at is None


def test_withdrawing_ends_the_lease_of_an_evaluation_that_begins_at_the_same_time(backend: Backend) -> None:
    """What withdrawing reads before it locks the submission may be from before a worker claimed it."""
    user, challenge = backend.user(), backend.challenge()
    submission_id = backend.submit(user, challenge)
    claimed = {"state": State.EVALUATING}
    with backend.database.writing() as session:
        read_before = session.get_one(Submission, submission_id)
        # As another transaction does: the object that was read stays as it is.
        claim = update(Submission).where(Submission.id == submission_id).values(claimed)
        session.execute(claim, execution_options={"synchronize_session": False})
        assert read_before.state is State.QUEUED
        service.withdraw(session, submission_id=submission_id, user=user)
    row = backend.submission(submission_id)
    assert row.state is State.WITHDRAWN
    assert row.quota_returned_at is None


@pytest.mark.services
def test_moderation_workers_and_owners_at_random_end_in_no_deadlock(postgres_url: str) -> None:
    outcome = run(postgres_url, seconds=4)
    assert outcome.errors == []
    assert outcome.done["moderate"]
    assert outcome.done["sweep"]
