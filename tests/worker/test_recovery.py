"""Whatever dies or is lost, every submission is scored, and once: with workers and brokers that really die."""

import contextlib
import os
import signal
import subprocess
import uuid
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest
import redis
from sqlalchemy import func, select

from tests.support.archives import stored_path
from tests.support.backend import Backend, kill_group, wait_until
from tests.support.forked import Forked
from tests.support.jobs import claim_next, evaluate_next, job_of, sweep
from vocboard.app.evaluations.models import Evaluation
from vocboard.app.jobs.models import Kind
from vocboard.app.messaging.notifier import WorkerNotifier
from vocboard.app.submissions import queue
from vocboard.app.submissions.models import State


def empty_broker(backend: Backend) -> None:
    """Delete every message, and whatever else the broker keeps."""
    address = backend.settings.broker
    if address.startswith("redis"):
        with contextlib.closing(redis.Redis.from_url(address)) as client:
            client.flushall()
    else:
        for path in Path(urlsplit(address).path).rglob("*.*"):
            path.unlink()


class Blocked:
    """A submission's columns, or its archive if it has none, as a named pipe: opening it blocks the evaluation."""

    def __init__(self, backend: Backend, submission_id: uuid.UUID) -> None:
        submission = backend.submission(submission_id)
        self._file = stored_path(backend.store, submission.columns_sha256 or submission.archive_sha256)
        self._real = self._file.rename(self._file.with_suffix(".real"))
        os.mkfifo(self._file)

    def restore(self) -> None:
        """Restore the file for later evaluations, and for a blocked one whose process is suspended and continues.

        The system then opens the file again, by name.
        """
        self._real.replace(self._file)

    def unblock(self, worker: Forked) -> None:
        """Unblock the evaluation."""
        self.restore()
        os.killpg(worker.pid, signal.SIGSTOP)
        processes = psutil.Process(worker.pid).children()
        wait_until(lambda: all(process.status() == psutil.STATUS_STOPPED for process in processes))
        os.killpg(worker.pid, signal.SIGCONT)


@pytest.mark.parametrize("victim", ["the whole worker", "the process that evaluates"])
def test_a_submission_whose_worker_was_killed_is_scored_by_another(backend: Backend, victim: str) -> None:
    submission_id = backend.submit(backend.user(), backend.challenge(), has_columns=False)
    blocked = Blocked(backend, submission_id)
    with backend.running("beat"), contextlib.ExitStack() as stack:
        worker = stack.enter_context(backend.running("worker"))
        backend.wait_for(submission_id, State.EVALUATING)
        if victim == "the whole worker":
            kill_group(worker)
        else:
            (child,) = psutil.Process(worker.pid).children()
            child.kill()
        blocked.restore()
        if victim == "the whole worker":
            stack.enter_context(backend.running("worker"))
        scored = backend.wait_for(submission_id, State.SCORED)
    assert job_of(backend.database, submission_id).attempts == 2
    assert scored.quota_returned_at is None
    with backend.database.reading() as session:
        assert session.scalar(select(func.count()).select_from(Evaluation)) == 1


def test_a_long_evaluation_keeps_its_lease(backend: Backend) -> None:
    submission_id = backend.submit(backend.user(), backend.challenge())
    blocked = Blocked(backend, submission_id)
    with backend.running("worker", lease="PT3S", sweep_interval="PT0.2S") as worker:
        backend.wait_for(submission_id, State.EVALUATING)
        two_renewals_later = job_of(backend.database, submission_id).not_before + timedelta(seconds=1.5)
        wait_until(lambda: job_of(backend.database, submission_id).not_before > two_renewals_later)
        blocked.unblock(worker)
        backend.wait_for(submission_id, State.SCORED)
    assert job_of(backend.database, submission_id).attempts == 1


def test_ten_submissions_whose_messages_were_lost_are_scored(backend: Backend) -> None:
    challenge, user, notifier = backend.challenge(), backend.user(), WorkerNotifier(backend.settings)
    submissions = []
    for _ in range(10):
        submissions.append(backend.submit(user, challenge))
        notifier.wake({Kind.EVALUATION})
    empty_broker(backend)
    with backend.running("worker"):
        for submission_id in submissions:
            backend.wait_for(submission_id, State.SCORED)
            assert job_of(backend.database, submission_id).attempts == 1


def test_a_running_worker_survives_that_its_broker_is_emptied(backend: Backend) -> None:
    challenge, user, notifier = backend.challenge(), backend.user(), WorkerNotifier(backend.settings)
    with backend.running("worker", poll_interval="PT1H", sweep_interval="PT1H") as worker:
        before = backend.submit(user, challenge)
        notifier.wake({Kind.EVALUATION})
        backend.wait_for(before, State.SCORED)
        empty_broker(backend)
        after = backend.submit(user, challenge)
        notifier.wake({Kind.EVALUATION})
        backend.wait_for(after, State.SCORED)
        assert worker.poll() is None


@pytest.mark.parametrize("stop", [os.kill, os.killpg], ids=["its first process", "its process group"])
def test_a_worker_that_is_asked_to_stop_finishes_its_evaluation(
    backend: Backend, stop: Callable[[int, int], None]
) -> None:
    submission_id = backend.submit(backend.user(), backend.challenge())
    blocked = Blocked(backend, submission_id)
    with backend.running("worker") as worker:
        backend.wait_for(submission_id, State.EVALUATING)
        stop(worker.pid, signal.SIGTERM)
        with pytest.raises(subprocess.TimeoutExpired):
            worker.wait(timeout=0.5)
        blocked.unblock(worker)
        assert worker.wait(timeout=20) == 0
    assert backend.submission(submission_id).state is State.SCORED


def test_after_so_many_attempts_a_submission_is_given_up_and_its_quota_given_back(backend: Backend) -> None:
    submission_id = backend.submit(backend.user(), backend.challenge())
    for attempt in range(1, 4):
        claim = claim_next(backend.database, Kind.EVALUATION, lease=timedelta(0))
        assert claim.attempt == attempt
        assert backend.submission(submission_id).state is State.EVALUATING
        sweep(backend.database, backend.settings)
        assert backend.submission(submission_id).state is State.QUEUED
    assert evaluate_next(backend.database, backend.store, backend.settings)
    failed = backend.submission(submission_id)
    assert failed.state is State.FAILED
    assert failed.quota_returned_at is not None
    assert failed.failure == queue.GIVEN_UP


def test_a_worker_whose_processes_take_no_work_restarts_itself(backend: Backend) -> None:
    challenge, user = backend.challenge(), backend.user()
    with backend.running("worker", poll_interval="PT0.05S") as worker:
        backend.wait_for(backend.submit(user, challenge), State.SCORED)
        suspend_idle_processes(backend, worker)  # they look alive, and take nothing
        backend.wait_for(backend.submit(user, challenge), State.SCORED)
        assert worker.poll() is None  # still the same process for a supervisor


def suspend_idle_processes(backend: Backend, worker: Forked) -> None:
    """Suspend the processes that evaluate, while none is at a task: for one that is, the worker waits."""
    (log,) = backend.settings.data_directory.glob("worker-*.log")

    def are_suspended() -> bool:
        written = log.read_text()
        processes = psutil.Process(worker.pid).children()
        # A process logs that a task succeeded, sends the result, and then waits for the next task.
        if any(process.status() != psutil.STATUS_SLEEPING for process in processes):
            return False
        for process in processes:
            process.suspend()
        # A process starts a task after the worker has logged that it received it.
        if written.count("] received") == written.count("] succeeded in ") and log.read_text() == written:
            return True
        for process in processes:
            process.resume()
        return False

    wait_until(are_suspended)


def test_a_result_that_comes_after_its_lease_is_not_stored(backend: Backend) -> None:
    submission_id = backend.submit(backend.user(), backend.challenge())
    blocked = Blocked(backend, submission_id)
    with backend.running("worker") as paused:
        backend.wait_for(submission_id, State.EVALUATING)
        backend.pause(paused)
        blocked.restore()
        with backend.running("worker"):
            backend.wait_for(submission_id, State.SCORED)
            assert job_of(backend.database, submission_id).attempts == 2
        os.killpg(paused.pid, signal.SIGCONT)
        logs = sorted(backend.settings.data_directory.glob("worker-*.log"))
        wait_until(lambda: any("nothing is stored" in log.read_text() for log in logs))
    with backend.database.reading() as session:
        assert session.scalar(select(func.count()).select_from(Evaluation)) == 1
