"""The mail worker, which only sends email. It can reach the internet, so it has no access to other data.

The outbox in the database is its queue. It polls the outbox periodically; messages from the broker only make it poll
sooner. A heartbeat shows that it polls.
"""

import logging
import threading
import time
from collections.abc import Callable
from typing import Any

from celery import Celery
from celery.signals import worker_init, worker_shutdown, worker_shutting_down
from kombu.entity import Queue
from sqlalchemy.exc import SQLAlchemyError

from vocboard.app.database import Database
from vocboard.app.messaging import delivery
from vocboard.app.messaging.broker import MAIL, SEND_MAIL, create_celery
from vocboard.app.messaging.delivery import MailServerError, send_due
from vocboard.app.messaging.outbox import Claimed
from vocboard.app.settings import Settings
from vocboard.worker import heartbeat
from vocboard.worker.heartbeat import Heartbeat

_log = logging.getLogger(__name__)


def create_mail_worker(settings: Settings) -> Celery:
    """Return the Celery application of the mail worker, with a single task.

    Raises:
        ValueError: the mail server in the settings is missing or invalid.
    """
    send = delivery.sender(settings)
    database = Database(settings.database)
    beating = Heartbeat(database, kind=MAIL)
    application = create_celery(settings, name="vocboard.mail")
    application.conf.update(
        task_queues=[Queue(MAIL, routing_key=MAIL)],  # type: ignore[no-untyped-call]  # kombu's
        worker_prefetch_multiplier=1,
        worker_enable_remote_control=False,
        worker_send_task_events=False,
    )

    def send_and_record(message: Claimed) -> None:
        try:
            send(message)
        except (MailServerError, OSError):
            beating.pause()  # `/readyz` says that email cannot be sent
            raise
        beating.resume()
        beating.record()  # a long queue takes many minutes

    def send_mail() -> None:
        """Send due messages."""
        try:
            send_due(database, send_and_record)
            beating.record()
        except SQLAlchemyError as error:  # the next poll follows soon
            _log.warning("could not read the outbox: %s", error)

    application.task(send_mail, name=SEND_MAIL)
    _poll_periodically(send_mail, settings.sweep_interval.total_seconds(), beating)
    return application


def _poll_periodically(poll: Callable[[], None], seconds: float, beating: Heartbeat) -> None:
    """Call a function periodically in a thread while the worker runs.

    The thread also records the heartbeat, so the heartbeat stops if the thread dies or hangs.
    """
    ended = threading.Event()

    def keep_polling() -> None:
        while True:
            try:
                poll()
            except Exception:
                _log.exception("could not read the outbox; retrying")
            next_poll = time.monotonic() + seconds
            while (left := next_poll - time.monotonic()) > 0:
                if ended.wait(min(left, heartbeat.INTERVAL.total_seconds())):
                    return
                try:
                    beating.record()
                except SQLAlchemyError as error:
                    _log.warning("could not record the heartbeat: %s", error)

    def start(**_signal: Any) -> None:
        threading.Thread(target=keep_polling, name="outbox", daemon=True).start()

    def stop(**_signal: Any) -> None:
        ended.set()

    def sign_off(**_signal: Any) -> None:
        beating.stop()

    worker_init.connect(start, weak=False)
    worker_shutting_down.connect(stop, weak=False)
    worker_shutdown.connect(sign_off, weak=False)
