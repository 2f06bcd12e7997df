"""A worker whose processes take no work restarts itself; one that was paused stores no late result."""

import os
import signal
import subprocess

import psutil
from sqlalchemy import func, select

from tests.support.backstage import Backstage, wait_until
from tests.worker.test_recovery import BlockedArchive
from vocboard.app.evaluations.models import Evaluation
from vocboard.app.submissions.models import State


def test_a_worker_whose_processes_take_no_work_restarts_itself(backstage: Backstage) -> None:
    challenge, user = backstage.challenge(), backstage.user()
    with backstage.running("worker", poll_interval="PT0.05S") as worker:
        backstage.wait_for(backstage.submit(user, challenge), State.SCORED)
        suspend_idle_processes(backstage, worker)  # they look alive, and take nothing
        backstage.wait_for(backstage.submit(user, challenge), State.SCORED)
        assert worker.poll() is None  # still the same process for a supervisor


def suspend_idle_processes(backstage: Backstage, worker: subprocess.Popen[bytes]) -> None:
    """Suspend the processes that evaluate, while none is at a task: for one that is, the worker waits."""
    (log,) = backstage.settings.data_directory.glob("worker-*.log")

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


def test_a_result_that_comes_after_its_lease_is_not_stored(backstage: Backstage) -> None:
    submission_id = backstage.submit(backstage.user(), backstage.challenge())
    blocked = BlockedArchive(backstage, submission_id)
    with backstage.running("worker") as paused:
        backstage.wait_for(submission_id, State.EVALUATING)
        backstage.pause(paused)
        blocked.unblock_later_evaluations()  # the system opens the file again, by name, when the process continues
        with backstage.running("worker"):
            assert backstage.wait_for(submission_id, State.SCORED).attempts == 2
        os.killpg(paused.pid, signal.SIGCONT)
        logs = sorted(backstage.settings.data_directory.glob("worker-*.log"))
        wait_until(lambda: any("nothing is stored" in log.read_text() for log in logs))
    with backstage.database.reading() as session:
        assert session.scalar(select(func.count()).select_from(Evaluation)) == 1
