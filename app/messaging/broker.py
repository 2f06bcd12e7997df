"""The broker for wake-up messages: Redis, or a directory.

The work is queued in the database; a message only tells workers to look for work now. Lost, repeated or late messages
do no harm, so there is no result backend, and messages are not acknowledged.
"""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from celery import Celery

from vocboard.app.messaging import directory_transport
from vocboard.app.settings import Settings

SCORING, MAIL = "scoring", "mail"  # kinds of workers, and queues of their wake-ups
WORK = "worker.work"

POLLING_SECONDS = (
    0.04  # polling interval of the directory; delays an evaluation by half of it on average, and polling takes 0.2 ms
)
PUBLISHING_SECONDS = 0.5  # for each step of connecting to the broker, so that senders do not wait longer
REDIS_OPTIONS = {
    "socket_connect_timeout": 5,  # seconds, as below; by default, the operating system's timeout
    "socket_timeout": 10,  # longer than the 1 s for which kombu waits for a message from Redis
    "socket_keepalive": True,
    "health_check_interval": 25,  # check connections that were idle for this long before using them
}


def create_celery(settings: Settings, *, name: str) -> Celery:
    """Return a Celery application that sends and receives wake-ups."""
    application = Celery(name, broker=_address(settings), set_as_current=False)
    application.conf.update(
        task_serializer="json",
        result_serializer="json",
        event_serializer="json",
        accept_content=["json"],
        task_ignore_result=True,
        task_default_queue=SCORING,
        timezone="UTC",
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,  # by default, a process stops trying after a hundred attempts
        broker_transport_options=_transport_options(settings),
    )
    return application


def create_publisher(settings: Settings) -> Celery:
    """Return a Celery application that sends messages with short timeouts."""
    application = create_celery(settings, name="vocboard.publisher")
    application.conf.update(
        task_publish_retry=False,
        broker_connection_timeout=PUBLISHING_SECONDS,
        broker_transport_options={
            **_transport_options(settings),
            "max_retries": 0,
            "socket_connect_timeout": PUBLISHING_SECONDS,
            "socket_timeout": PUBLISHING_SECONDS,
        },
    )
    return application


def _is_directory(settings: Settings) -> bool:
    return urlsplit(settings.broker).scheme == "filesystem"


def _address(settings: Settings) -> str:
    if not _is_directory(settings):
        return settings.broker
    directory_transport.register()
    return f"{directory_transport.SCHEME}://localhost/"  # the options contain the directory


def _transport_options(settings: Settings) -> dict[str, Any]:
    if not _is_directory(settings):
        return dict(REDIS_OPTIONS)
    directory = Path(urlsplit(settings.broker).path)
    messages, control = directory / "messages", directory / "control"
    for folder in (messages, control):
        folder.mkdir(parents=True, exist_ok=True)
    return {
        "data_folder_in": str(messages),
        "data_folder_out": str(messages),
        "control_folder": str(control),
        "polling_interval": POLLING_SECONDS,
    }
