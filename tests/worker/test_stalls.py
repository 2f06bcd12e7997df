"""A worker whose processes take no work restarts itself; one that was paused stores no late result."""

import os
import signal

import psutil
from sqlalchemy import func, select

from tests.support.backend import Backend, wait_until
from tests.support.forked import Forked
from tests.support.jobs import job_of
from tests.worker.test_recovery import BlockedArchive
from vocboard.app.evaluations.models import Evaluation
from vocboard.app.submissions.models import State


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
        processes = psutil.Process(worker.pid).children()
        for process in processes:
            process.suspend()
        written = log.read_text()
        # A process starts a task after the worker has logged that it received it.
        if written.count("] received") == written.count("] succeeded in "):
            return True
        for process in processes:
            process.resume()
        return False

    wait_until(are_suspended)


def test_a_result_that_comes_after_its_lease_is_not_stored(backend: Backend) -> None:
    submission_id = backend.submit(backend.user(), backend.challenge())
    blocked = BlockedArchive(backend, submission_id)
    with backend.running("worker") as paused:
        backend.wait_for(submission_id, State.EVALUATING)
        backend.pause(paused)
        blocked.unblock_later_evaluations()  # the system opens the file again, by name, when the process continues
        with backend.running("worker"):
            backend.wait_for(submission_id, State.SCORED)
            assert job_of(backend.database, submission_id).attempts == 2
        os.killpg(paused.pid, signal.SIGCONT)
        logs = sorted(backend.settings.data_directory.glob("worker-*.log"))
        wait_until(lambda: any("nothing is stored" in log.read_text() for log in logs))
    with backend.database.reading() as session:
        assert session.scalar(select(func.count()).select_from(Evaluation)) == 1
