"""Waking a worker, after the commit of what there is to do."""

import logging
import time

from vocboard.app.messaging.broker import EVALUATE_NEXT, IMPORT_GROUND_TRUTH, RESCORE, SEND_MAIL, create_publisher
from vocboard.app.settings import Settings

PAUSE_SECONDS = 5.0  # after a failure: a broker that is down delays one person in so much time, not everyone

_log = logging.getLogger(__name__)


class WorkerNotifier:
    """Tells the workers that there is something to do.

    It never fails and takes about a second at most: without a broker, workers find the work when they next look.
    """

    def __init__(self, settings: Settings) -> None:
        self._publisher = create_publisher(settings)
        self._silent_until = 0.0  # time.monotonic()

    def submission_queued(self) -> None:
        """Say that a submission is queued."""
        self._send(EVALUATE_NEXT)

    def ground_truth_uploaded(self) -> None:
        """Say that a ground truth has been uploaded."""
        self._send(IMPORT_GROUND_TRUTH)

    def rescore_changed(self) -> None:
        """Say that a re-score has been started, or is to be applied."""
        self._send(RESCORE)

    def mail_queued(self) -> None:
        """Say that e-mail is in the outbox."""
        self._send(SEND_MAIL)

    def _send(self, task: str) -> None:
        if time.monotonic() < self._silent_until:
            return
        try:
            self._publisher.send_task(task, retry=False)
        except Exception as error:  # whatever the broker's client raises: the work is safe in the database
            self._silent_until = time.monotonic() + PAUSE_SECONDS
            _log.warning("no wake-up for %s could be sent: %s", task, error)
