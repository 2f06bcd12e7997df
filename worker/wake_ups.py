"""Wake-ups from the broker: each makes the worker look for work at once, not only when it next would."""

import logging
import threading
from collections.abc import Callable, Iterable

from kombu.entity import Queue

from vocboard.app.messaging.broker import create_celery
from vocboard.app.settings import Settings

WAITING_SECONDS = 1.0  # for a message; then see whether the worker has stopped
# A connection on which nothing has arrived for so long is replaced: it may have broken without anybody being told.
SILENT_WAITS = 60
LONGEST_PAUSE_SECONDS = 5.0  # before the next try to reach the broker
BUSY_PAUSE_SECONDS = 0.05

_log = logging.getLogger(__name__)


class WakeUps:
    """Reads wake-ups in a thread of its own, from `start` to `stop`. What they say does not matter.

    After whatever error it begins afresh with a new connection. While the worker is busy they are left to others.

    Args:
        queues: whose messages to read.
        wake: what to do with one.
        is_busy: whether this worker could do nothing now.
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
        """Begin to read."""
        self._thread.start()

    def stop(self) -> None:
        """Read no more."""
        self._stopped.set()

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                self._read()
            except Exception as error:  # whatever the broker's client raises: work is found without it
                if self._failures == 0:
                    _log.warning("no wake-ups: %s; the worker goes on looking for work by itself", error)
                self._failures += 1
                self._stopped.wait(min(self._failures, LONGEST_PAUSE_SECONDS))

    def _read(self) -> None:
        """Read until nothing has come for long.

        Raises:
            Exception: the connection broke.
        """
        with (
            self._application.connection_for_read() as connection,
            connection.Consumer(self._queues, callbacks=[lambda _body, _message: self._wake()], no_ack=True),
        ):
            if self._failures:
                _log.info("wake-ups arrive again")
                self._failures = 0
            self._wake()  # for what was sent while nobody read
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
