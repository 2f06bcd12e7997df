"""The worker's Celery application."""

import signal
from collections.abc import Collection
from typing import Any

from celery import Celery
from celery.signals import worker_process_init, worker_process_shutdown, worker_ready, worker_shutting_down
from kombu.entity import Queue

from vocboard.app import tracing
from vocboard.app.intake.confinement import limit_memory
from vocboard.app.jobs.models import Kind
from vocboard.app.messaging.broker import MAIL, SCORING, WORK, create_celery
from vocboard.app.settings import Settings
from vocboard.worker.dispatcher import Dispatcher
from vocboard.worker.process import Process
from vocboard.worker.wake_ups import WakeUps
from vocboard.worker.work import work

KILLED_AFTER_SECONDS = 30  # after the soft time limit, for code that ignores it
POLLING_SECONDS = 0.01  # of the in-process queue


def create_worker(settings: Settings, kinds: Collection[Kind] = tuple(Kind)) -> Celery:
    """Return the Celery application of a worker for some kinds of jobs, with its task and limits.

    Its messages do not leave the process; see `worker.dispatcher`.
    """
    queues = [queue for queue, kind in ((SCORING, Kind.EVALUATION), (MAIL, Kind.MAIL)) if kind in kinds]
    application = create_celery(settings, name="vocboard")
    seconds = settings.evaluation_time_limit.total_seconds()
    application.conf.update(
        broker_url="memory://localhost/",  # without a host, kombu warns that it has none
        broker_transport_options={"polling_interval": POLLING_SECONDS},
        task_default_queue=WORK,
        task_queues=[Queue(WORK, routing_key=WORK)],  # type: ignore[no-untyped-call]  # kombu's
        task_soft_time_limit=seconds,
        task_time_limit=seconds + KILLED_AFTER_SECONDS,
        task_acks_late=False,
        worker_prefetch_multiplier=1,
        worker_concurrency=settings.worker_processes if SCORING in queues else 1,  # messages are sent in turn
        worker_enable_remote_control=False,
        worker_send_task_events=False,
    )
    process = Process(settings, kinds)

    def do_jobs() -> None:
        """Do jobs until none is due or the turn is over."""
        work(process)

    application.task(do_jobs, name=WORK)
    dispatcher = Dispatcher(application, settings, kinds=kinds, kind_of_worker=queues[0])
    wake_ups = WakeUps(settings, queues=queues, wake=dispatcher.wake, is_busy=lambda: dispatcher.is_busy)

    def prepare(**_signal: Any) -> None:
        # The first process stops them. A supervisor may send SIGTERM to the whole group: the pool would wait for ever
        # for a process that has ended in the middle of a task.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        limit_memory(settings.evaluation_memory_limit_bytes)
        tracing.configure("vocboard-worker")

    def start(sender: Any, **_signal: Any) -> None:
        dispatcher.start(sender.controller)
        wake_ups.start()

    def stop(**_signal: Any) -> None:
        wake_ups.stop()
        dispatcher.stop()

    worker_process_init.connect(prepare, weak=False)
    worker_process_shutdown.connect(lambda **_: tracing.flush(), weak=False)
    worker_ready.connect(start, weak=False)
    worker_shutting_down.connect(stop, weak=False)
    return application
