"""What keeps a worker working: it looks in the database for work that is due, and hands it to the worker's processes.

Looking is what a worker lives by. Wake-ups from the broker only make it look sooner, so it does not matter whether
they arrive. Tasks go from here to Celery through its in-process transport, which has no connection that could break:
Celery's consumer of Redis has stopped for good after restarts of Redis, whatever was fixed in it (celery issues 8030,
8091, 8384, 9054 and 10205; kombu pull request 2007).
"""

import logging
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta

from celery import Celery
from celery.worker import WorkController, state
from kombu.transport.memory import Channel
from sqlalchemy.exc import DBAPIError

from vocboard.app.database import Database
from vocboard.app.settings import Settings
from vocboard.worker.due_work import DueWork
from vocboard.worker.heartbeat import Heartbeat

BUSY_INTERVAL = timedelta(seconds=1)  # between looks while there is work; processes take a new task after a second
LEAST_PAUSE_SECONDS = 0.02  # between looks, however many wake-ups arrive
LOOKS_UNTIL_STALLED = 30
JITTER = 0.25  # so that workers that started together do not look together

_log = logging.getLogger(__name__)


class Dispatcher:
    """Looks for work in a thread of its own, from `start` to `stop`.

    Should its tasks not be started although processes are free, the worker's process replaces itself by a new one.
    Looks are counted, not seconds: a worker that was paused has not stalled.

    Args:
        application: the worker's, on the in-process transport; each task has a queue of its name.
        work: what to look for.
    """

    def __init__(self, application: Celery, settings: Settings, *, kind: str, work: Sequence[DueWork]) -> None:
        self._application = application
        self._settings = settings
        self._kind = kind
        self._work = work
        self._woken, self._stopped = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="dispatcher", daemon=True)
        self._stalled_looks, self._last_counted, self._started_before = 0, 0.0, 0

    def start(self, worker: WorkController) -> None:
        """Begin to look."""
        self._worker = worker
        self._thread.start()

    def wake(self) -> None:
        """Look now."""
        self._woken.set()

    def stop(self) -> None:
        """Look no more, and say so."""
        self._stopped.set()
        self._woken.set()

    @property
    def is_busy(self) -> bool:
        """Whether every process has something to do."""
        return len(state.active_requests) >= self._settings.worker_processes

    def _run(self) -> None:
        database = Database(self._settings.database)
        heartbeat = Heartbeat(database, kind=self._kind)
        with self._application.connection_for_write() as local:
            channel = local.default_channel
            while not self._stopped.is_set():
                self._woken.clear()
                is_work_due = True
                try:
                    is_work_due = self._look(database, channel, heartbeat)
                except DBAPIError as error:
                    _log.warning("could not look for work in the database, and will try again: %s", error.orig)
                except Exception:
                    _log.exception("could not look for work, and will try again")
                self._stopped.wait(LEAST_PAUSE_SECONDS)
                self._woken.wait(self._pause(is_work_due))
        heartbeat.stop()
        database.close()

    def _pause(self, is_work_due: bool) -> float:
        interval = self._settings.poll_interval
        if is_work_due:
            interval = min(interval, BUSY_INTERVAL)
        return interval.total_seconds() * random.uniform(1 - JITTER, 1 + JITTER)  # noqa: S311  # not a secret

    def _look(self, database: Database, channel: Channel, heartbeat: Heartbeat) -> bool:
        """Hand out what is due; whether anything was."""
        with database.reading_autocommit() as session:
            due = {work.task: work.count(session) for work in self._work}
        handed_out = {task: channel._size(task) for task in due}  # type: ignore[no-untyped-call]  # kombu's
        self._check_progress(any(handed_out.values()))
        for task, count in due.items():
            # Tasks that nobody has taken yet are enough: each goes on as long as there is work, for its turn.
            for _ in range(min(count, self._settings.worker_processes) - handed_out[task]):
                self._application.send_task(task)
        if not self._stalled_looks:
            heartbeat.record()
        return any(due.values())

    def _check_progress(self, is_handed_out: bool) -> None:
        """Replace this process if what it hands out has not been started for long, and nothing is running."""
        started, self._started_before = self._started_before, state.all_total_count[0]
        if not is_handed_out or started != self._started_before or self._is_running():
            self._stalled_looks = 0
        elif time.monotonic() > self._last_counted + self._pause(is_work_due=True) / 2:
            self._stalled_looks += 1
            self._last_counted = time.monotonic()
        if self._stalled_looks >= LOOKS_UNTIL_STALLED:
            _replace_process(self._worker)

    def _is_running(self) -> bool:
        """Whether a process is at a task, and within its time limit."""
        limit = self._application.conf.task_time_limit + LOOKS_UNTIL_STALLED
        try:
            running = [request.time_start for request in state.active_requests]
        except RuntimeError:  # one was just added
            return True
        return any(started is not None and time.time() < started + limit for started in running)


def _replace_process(worker: WorkController) -> None:
    """Go on as a new worker with the same process id and arguments, so that whoever supervises it notices nothing."""
    _log.critical("no process takes the work that is due: the worker starts itself anew")
    processes = worker.pool
    processes._pool._worker_handler.terminate()  # which would start others in place of those that are killed
    for process_id in processes.info["processes"]:
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(process_id, signal.SIGKILL)
            os.waitpid(process_id, 0)
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606  # our own arguments
