"""The dispatcher polls the database for due work, and passes it to the worker's processes.

Workers rely on polling. Wake-ups from the broker only make them poll sooner, so lost wake-ups do no harm. Tasks are
sent to Celery through its in-process transport, which has no connection that could fail: Celery's Redis consumer has
repeatedly stopped permanently after restarts of Redis (celery issues 8030, 8091, 8384, 9054 and 10205; kombu pull
request 2007).
"""

import logging
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Collection
from contextlib import suppress
from datetime import timedelta

from celery import Celery
from celery.worker import WorkController, state
from kombu.transport.memory import Channel
from sqlalchemy.exc import DBAPIError

from vocboard.app.database import Database
from vocboard.app.jobs import service as jobs
from vocboard.app.jobs.heartbeats import Heartbeat
from vocboard.app.jobs.models import Kind
from vocboard.app.messaging.broker import SCORING, WORK
from vocboard.app.settings import Settings
from vocboard.worker.ground_truth_files import GroundTruthFiles

BUSY_INTERVAL = timedelta(seconds=1)  # polling interval while there is work; processes take a new task after a second
MIN_PAUSE_SECONDS = 0.02  # minimum interval between polls, for any number of wake-ups
POLLS_UNTIL_STALLED = 30
JITTER = 0.25  # so that workers that started together do not poll together

_log = logging.getLogger(__name__)


class Dispatcher:
    """Polls for work in its own thread, from `start` to `stop`.

    If tasks are not started although processes are free, the worker's process replaces itself by a new one. This counts
    polls, not seconds, so that a paused worker is not considered stalled.

    Args:
        application: the worker's Celery application, on the in-process transport; its queue is called `WORK`.
        kinds: of jobs that it does.
        kind_of_worker: `SCORING` or `MAIL`, for the heartbeat.
    """

    def __init__(
        self, application: Celery, settings: Settings, *, kinds: Collection[Kind], kind_of_worker: str
    ) -> None:
        self._application = application
        self._settings = settings
        self._kinds = kinds
        self._kind_of_worker = kind_of_worker
        self._processes: int = application.conf.worker_concurrency
        self._woken, self._stopped = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="dispatcher", daemon=True)
        self._has_sweeps = False
        self._stalled_polls, self._last_counted, self._started_before = 0, 0.0, 0

    def start(self, worker: WorkController) -> None:
        """Start polling."""
        self._worker = worker
        self._thread.start()

    def wake(self) -> None:
        """Poll now."""
        self._woken.set()

    def stop(self) -> None:
        """Stop polling, and remove the heartbeat."""
        self._stopped.set()
        self._woken.set()

    @property
    def is_busy(self) -> bool:
        """Whether all processes are busy."""
        return len(state.active_requests) >= self._processes

    def _run(self) -> None:
        database = Database(self._settings.database)
        heartbeat = Heartbeat(database, kind=self._kind_of_worker)
        ground_truth = GroundTruthFiles(database, self._settings) if self._kind_of_worker == SCORING else None
        with self._application.connection_for_write() as local:
            channel = local.default_channel
            while not self._stopped.is_set():
                self._woken.clear()
                is_work_due = True
                try:
                    is_work_due = self._poll(database, channel, heartbeat)
                    if ground_truth is not None:
                        with database.reading_autocommit() as session:
                            ground_truth.check(session)
                except DBAPIError as error:
                    _log.warning("could not poll the database for work; retrying: %s", error.orig)
                except Exception:
                    _log.exception("could not poll for work; retrying")
                self._stopped.wait(MIN_PAUSE_SECONDS)
                self._woken.wait(self._pause(is_work_due))
        heartbeat.stop()
        if ground_truth is not None:
            ground_truth.stop()
        database.close()

    def _pause(self, is_work_due: bool) -> float:
        interval = self._settings.poll_interval
        if is_work_due:
            interval = min(interval, BUSY_INTERVAL)
        return interval.total_seconds() * random.uniform(1 - JITTER, 1 + JITTER)  # noqa: S311  # not a secret

    def _poll(self, database: Database, channel: Channel, heartbeat: Heartbeat) -> bool:
        """Dispatch due work; return whether there was any, or a process is busy: its job may return to the queue."""
        handed_out = channel.queue_declare(WORK).message_count  # type: ignore[no-untyped-call]  # kombu's
        self._check_progress(handed_out > 0)
        if not self._has_sweeps:
            with database.writing() as session:
                for kind in jobs.SWEEPS.intersection(self._kinds):
                    jobs.add(session, kind, jobs.SWEEP_KEY)
            self._has_sweeps = True
        with database.reading_autocommit() as session:
            count = jobs.count_due(session, self._kinds, limit=self._processes)
        for _ in range(count - handed_out):  # a task that is still queued does several jobs
            self._application.send_task(WORK)
        if not self._stalled_polls:
            heartbeat.record()
        return count > 0 or bool(state.active_requests)

    def _check_progress(self, is_handed_out: bool) -> None:
        """Replace this process if dispatched tasks have not been started for a long time and nothing is running."""
        started, self._started_before = self._started_before, state.all_total_count[0]
        if not is_handed_out or started != self._started_before or self._is_running():
            self._stalled_polls = 0
        elif time.monotonic() > self._last_counted + self._pause(is_work_due=True) / 2:
            self._stalled_polls += 1
            self._last_counted = time.monotonic()
        if self._stalled_polls >= POLLS_UNTIL_STALLED:
            _replace_process(self._worker)

    def _is_running(self) -> bool:
        """Whether a process is running a task within its time limit."""
        limit = self._application.conf.task_time_limit + POLLS_UNTIL_STALLED
        try:
            running = [request.time_start for request in state.active_requests]
        except RuntimeError:  # one was just added
            return True
        return any(started is not None and time.time() < started + limit for started in running)


def _replace_process(worker: WorkController) -> None:
    """Replace this process by a new worker with the same process id and arguments."""
    _log.critical("no process takes due work: the worker restarts itself")
    for process_id in worker.pool.info["processes"]:
        with suppress(ProcessLookupError):
            os.kill(process_id, signal.SIGKILL)
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606  # our own arguments
