"""Receives wake-ups from the broker, which make the worker poll immediately."""

import logging
import threading
from collections.abc import Callable, Iterable

from kombu.entity import Queue

from vocboard.app.messaging.broker import create_celery
from vocboard.app.settings import Settings

WAITING_SECONDS = 1.0  # timeout for a message; then check whether the worker has stopped
# Replace a connection without messages for this long, because it may be dead without an error.
SILENT_WAITS = 60
MAX_PAUSE_SECONDS = 5.0  # before the next connection attempt
BUSY_PAUSE_SECONDS = 0.05

_log = logging.getLogger(__name__)


class WakeUps:
    """Receives wake-ups in its own thread, from `start` to `stop`. Their content does not matter.

    After any error, it reconnects. While the worker is busy, it leaves wake-ups to other workers.

    Args:
        queues: names of the queues.
        wake: called for each wake-up.
        is_busy: returns whether this worker cannot take work now.
    """

    def __init__(
        self, settings: Settings, *, queues: Iterable[str], wake: Callable[[], None], is_busy: Callable[[], bool]
    ) -> None:
        self._application = create_celery(settings, name="vocboard.wake-ups")
        self._queues = [Queue(name, routing_key=name) for name in queues]  # type: ignore[no-untyped-call]  # kombu's
        self._wake = wake
        self._is_busy = is_busy
        self._stopped = threading.Event()
        self._failures = 0
        self._thread = threading.Thread(target=self._run, name="wake-ups", daemon=True)

    def start(self) -> None:
        """Start receiving."""
        self._thread.start()

    def stop(self) -> None:
        """Stop receiving."""
        self._stopped.set()

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                self._read()
            except Exception as error:  # any error of the broker's client: polling also finds the work
                if self._failures == 0:
                    _log.warning("not receiving wake-ups: %s; the worker still polls for work", error)
                self._failures += 1
                self._stopped.wait(min(self._failures, MAX_PAUSE_SECONDS))

    def _read(self) -> None:
        """Receive until no message has arrived for a long time.

        Raises:
            Exception: the connection failed.
        """
        with (
            self._application.connection_for_read() as connection,
            connection.Consumer(self._queues, callbacks=[lambda _body, _message: self._wake()], no_ack=True),
        ):
            if self._failures:
                _log.info("receiving wake-ups again")
                self._failures = 0
            self._wake()  # for messages sent while disconnected
            silent_waits = 0
            while silent_waits < SILENT_WAITS and not self._stopped.is_set():
                if self._is_busy():
                    self._stopped.wait(BUSY_PAUSE_SECONDS)
                    continue
                try:
                    connection.drain_events(timeout=WAITING_SECONDS)
                    silent_waits = 0
                except TimeoutError:
                    silent_waits += 1
