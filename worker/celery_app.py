"""The worker's Celery application, from the settings."""

from typing import Any

from celery import Celery
from celery.signals import worker_process_init, worker_ready
from kombu.entity import Queue

from app.broker import BELLS, MAIL, SEND_MAIL, SWEEP, SWEEPS, create_celery
from app.process_limits import limit_memory
from app.settings import Settings
from worker import tasks

KILLED_AFTER_SECONDS = 30  # beyond the time limit, for what does not even let itself be interrupted


def create_worker(settings: Settings) -> Celery:
    """Return the application with its tasks, limits and schedule."""
    application = create_celery(settings, name="vocboard")
    seconds = settings.evaluation_time_limit.total_seconds()
    application.conf.update(
        task_queues=[Queue(name, routing_key=name) for name in (BELLS, SWEEPS, MAIL)],  # type: ignore[no-untyped-call]  # kombu's
        task_soft_time_limit=seconds,
        task_time_limit=seconds + KILLED_AFTER_SECONDS,
        # Messages are acknowledged when they are taken, and lost with their worker: the sweep finds the submission.
        task_acks_late=False,
        worker_prefetch_multiplier=1,
        worker_concurrency=settings.worker_processes,
        worker_enable_remote_control=False,
        worker_send_task_events=False,
        beat_schedule={
            "sweep": {
                "task": SWEEP,
                "schedule": settings.sweep_interval.total_seconds(),
                "options": {"expires": settings.sweep_interval.total_seconds()},  # the next one does it as well
            },
            "mail": {
                "task": SEND_MAIL,
                "schedule": settings.sweep_interval.total_seconds(),
                "options": {"expires": settings.sweep_interval.total_seconds()},
            },
        },
        # Keeps no file: nothing is lost if a sweep is early or late once.
        beat_scheduler="celery.beat:Scheduler",
        beat_max_loop_interval=settings.sweep_interval.total_seconds(),
    )
    tasks.register(application, settings)
    _on_start(application, settings)
    return application


def _on_start(application: Celery, settings: Settings) -> None:
    def prepare(**_signal: Any) -> None:
        import pyarrow.csv  # noqa: F401, PLC0415  # which the evaluator imports when it first needs it

        limit_memory(settings.evaluation_memory_limit_bytes)

    def look_for_work(**_signal: Any) -> None:
        application.send_task(SWEEP)

    worker_process_init.connect(prepare, weak=False)
    worker_ready.connect(look_for_work, weak=False)
