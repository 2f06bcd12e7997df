"""The worker that sends e-mail, and nothing else: it reaches the internet, so it reaches nothing that is secret here.

The outbox in the database is its queue. It looks there periodically whatever becomes of the broker; messages of the
broker only make it look at once.
"""

import logging
import threading
from typing import Any

from celery import Celery
from celery.signals import worker_init, worker_shutting_down
from kombu.entity import Queue
from sqlalchemy.exc import SQLAlchemyError

from vocboard.app.database import Database
from vocboard.app.messaging.broker import MAIL, SEND_MAIL, create_celery
from vocboard.app.messaging.mail import delivery
from vocboard.app.messaging.mail.sending import send_due
from vocboard.app.settings import Settings

_log = logging.getLogger(__name__)


def create_mail_worker(settings: Settings) -> Celery:
    """Return the Celery application of the worker that sends e-mail. It has the one task, and no schedule.

    Raises:
        ValueError: the settings name no mail server, or not a proper one.
    """
    send = delivery.sender(settings)
    database = Database(settings.database)
    application = create_celery(settings, name="vocboard.mail")
    application.conf.update(
        task_queues=[Queue(MAIL, routing_key=MAIL)],  # type: ignore[no-untyped-call]  # kombu's
        worker_prefetch_multiplier=1,
        worker_enable_remote_control=False,
        worker_send_task_events=False,
    )

    def send_mail() -> None:
        """Send what is due."""
        try:
            send_due(database, send)
        except SQLAlchemyError as error:  # the next look comes soon
            _log.warning("the outbox could not be read: %s", error)

    application.task(send_mail, name=SEND_MAIL)
    _look_periodically(send_mail, settings.sweep_interval.total_seconds())
    return application


def _look_periodically(look: Any, seconds: float) -> None:
    """Call a function every so often from a thread of its own, from the worker's start to its end."""
    ended = threading.Event()

    def keep_looking() -> None:
        while True:
            look()
            if ended.wait(seconds):
                return

    def start(**_signal: Any) -> None:
        threading.Thread(target=keep_looking, name="outbox", daemon=True).start()

    def stop(**_signal: Any) -> None:
        ended.set()

    worker_init.connect(start, weak=False)
    worker_shutting_down.connect(stop, weak=False)
