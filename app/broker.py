"""The broker: Celery as a doorbell.

The database says what there is to do; messages only say that it is worth looking. A lost, repeated or late one changes
nothing, so there is no result backend and nothing depends on when a message is acknowledged.
"""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from celery import Celery

from app import directory_broker
from app.settings import Settings

BELLS, SWEEPS = "bells", "sweeps"  # queues: sweeps must not wait behind many bells
MAIL = "mail"  # queue of the worker that sends e-mail
EVALUATE_NEXT = "worker.evaluate_next"
IMPORT_GROUND_TRUTH = "worker.import_ground_truth"
SWEEP = "worker.sweep"
SEND_MAIL = "worker.send_mail"

POLLING_SECONDS = 0.04  # of the directory: half of it is what an evaluation waits for, and looking takes 0.2 ms
PUBLISHING_SECONDS = 0.5  # for each step of reaching the broker: nobody waits longer for a bell


def create_celery(settings: Settings, *, name: str) -> Celery:
    """Return the Celery application of a worker, or of the sweep's clock."""
    application = Celery(name, broker=_address(settings), set_as_current=False)
    application.conf.update(
        task_serializer="json",
        result_serializer="json",
        event_serializer="json",
        accept_content=["json"],
        task_ignore_result=True,
        task_default_queue=BELLS,
        task_routes={SWEEP: {"queue": SWEEPS}, SEND_MAIL: {"queue": MAIL}},
        timezone="UTC",
        broker_connection_retry_on_startup=True,
        broker_transport_options=_transport_options(settings),
    )
    return application


def create_publisher(settings: Settings) -> Celery:
    """Return a Celery application that sends messages quickly or not at all."""
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
    directory_broker.register()
    return f"{directory_broker.SCHEME}://localhost/"  # which directory it is stands in the options


def _transport_options(settings: Settings) -> dict[str, Any]:
    if not _is_directory(settings):
        return {}
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
