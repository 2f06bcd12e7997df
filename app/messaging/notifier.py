"""Notifies workers of new work, after the commit that makes it due (`Database.writing`)."""

import logging
import time
from collections.abc import Collection

from vocboard.app.jobs.models import MAIL_KINDS, Kind
from vocboard.app.messaging.broker import MAIL, SCORING, WORK, create_publisher
from vocboard.app.settings import Settings

PAUSE_SECONDS = 5.0  # pause after a failure, so that a broker that is down does not delay every request

_log = logging.getLogger(__name__)


class WorkerNotifier:
    """Sends wake-up messages to workers.

    Never fails, and takes at most about a second: without a broker, workers find the work at their next poll.
    """

    def __init__(self, settings: Settings) -> None:
        self._publisher = create_publisher(settings)
        self._silent_until = 0.0  # time.monotonic()

    def wake(self, kinds: Collection[Kind]) -> None:
        """Notify the workers that do jobs of these kinds."""
        for queue in sorted({MAIL if kind in MAIL_KINDS else SCORING for kind in kinds}):
            self._send(queue)

    def _send(self, queue: str) -> None:
        if time.monotonic() < self._silent_until:
            return
        try:
            self._publisher.send_task(WORK, queue=queue, retry=False)
        except Exception as error:  # any error of the broker's client: the work is stored in the database
            self._silent_until = time.monotonic() + PAUSE_SECONDS
            _log.warning("could not send a wake-up for %s: %s", queue, error)
