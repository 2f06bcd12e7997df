"""The worker's Celery application."""

import signal
from typing import Any

from celery import Celery
from celery.signals import worker_process_init, worker_ready, worker_shutting_down
from kombu.entity import Queue

from vocboard.app.intake.confinement import limit_memory
from vocboard.app.messaging import delivery
from vocboard.app.messaging.broker import MAIL, SCORING, SEND_MAIL, WORK, create_celery
from vocboard.app.settings import Environment, Settings
from vocboard.worker.dispatcher import Dispatcher
from vocboard.worker.process import Process
from vocboard.worker.wake_ups import WakeUps
from vocboard.worker.work import work

KILLED_AFTER_SECONDS = 30  # after the soft time limit, for code that ignores it
POLLING_SECONDS = 0.01  # of the in-process queue


def create_worker(settings: Settings) -> Celery:
    """Return the Celery application of a scoring worker, with its tasks and limits.

    Its messages do not leave the process; see `worker.dispatcher`.
    """
    application = create_celery(settings, name="vocboard")
    queues = (SCORING, MAIL) if settings.environment is Environment.EMBEDDED else (SCORING,)  # no separate mail worker
    task_names = [WORK, SEND_MAIL][: len(queues)]
    seconds = settings.evaluation_time_limit.total_seconds()
    application.conf.update(
        broker_url="memory://",
        broker_transport_options={"polling_interval": POLLING_SECONDS},
        task_queues=[Queue(task, routing_key=task) for task in task_names],  # type: ignore[no-untyped-call]  # kombu's
        task_routes={task: {"queue": task} for task in task_names},
        task_soft_time_limit=seconds,
        task_time_limit=seconds + KILLED_AFTER_SECONDS,
        task_acks_late=False,
        worker_prefetch_multiplier=1,
        worker_concurrency=settings.worker_processes,
        worker_enable_remote_control=False,
        worker_send_task_events=False,
    )
    process = Process(settings)

    def do_jobs() -> None:
        """Do jobs until none is due or the turn is over."""
        work(process)

    def send_mail() -> None:
        """Send due messages from the outbox, in the embedded set-up, which has no separate mail worker."""
        delivery.send_due(process.database, delivery.sender(settings))

    application.task(do_jobs, name=WORK)
    application.task(send_mail, name=SEND_MAIL)
    dispatcher = Dispatcher(application, settings, tasks=task_names)
    wake_ups = WakeUps(settings, queues=queues, wake=dispatcher.wake, is_busy=lambda: dispatcher.is_busy)

    def prepare(**_signal: Any) -> None:
        # The first process stops them. A supervisor may send SIGTERM to the whole group: the pool would wait for ever
        # for a process that has ended in the middle of a task.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        limit_memory(settings.evaluation_memory_limit_bytes)

    def start(sender: Any, **_signal: Any) -> None:
        dispatcher.start(sender.controller)
        wake_ups.start()

    def stop(**_signal: Any) -> None:
        wake_ups.stop()
        dispatcher.stop()

    worker_process_init.connect(prepare, weak=False)
    worker_ready.connect(start, weak=False)
    worker_shutting_down.connect(stop, weak=False)
    return application
