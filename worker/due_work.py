"""What there is to do for each kind of worker: the registry that a worker looks through.

The database is the queue of every kind of work. To add one, write the Celery task that does some of it (in
`worker.tasks`) and the function that counts how many tasks would find something to do, and list both here.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from sqlalchemy.orm import Session

from vocboard.app.challenges import ground_truth_queue
from vocboard.app.messaging.broker import EVALUATE_NEXT, IMPORT_GROUND_TRUTH, RESCORE, SCORING, SEND_MAIL, SWEEP
from vocboard.app.messaging.mail import outbox
from vocboard.app.rescores import queue as rescores
from vocboard.app.settings import Environment, Settings
from vocboard.app.submissions import queue
from vocboard.evaluator import VERSION


@dataclass(frozen=True, slots=True)
class DueWork:
    """One kind of work.

    Attributes:
        task: name of the Celery task that does some of it; safe to run when there is nothing to do any more.
        count: how many of these tasks would find something to do now.
    """

    task: str
    count: Callable[[Session], int]


def _scoring(settings: Settings) -> tuple[DueWork, ...]:
    work: tuple[DueWork, ...] = (
        DueWork(SWEEP, _SweepIsDue(settings.sweep_interval)),
        DueWork(IMPORT_GROUND_TRUTH, ground_truth_queue.is_due),  # one import at a time in each worker
        DueWork(EVALUATE_NEXT, queue.waiting),
        DueWork(RESCORE, partial(rescores.due, evaluator_version=VERSION)),
    )
    if settings.environment is Environment.EMBEDDED:  # which has no worker for e-mail alone
        work += (DueWork(SEND_MAIL, outbox.is_due),)
    return work


# By kind of worker, which is also the name of its queue of wake-ups. The worker for e-mail alone is in `worker.mail`.
KINDS: Mapping[str, Callable[[Settings], tuple[DueWork, ...]]] = {SCORING: _scoring}


class _SweepIsDue:
    """A sweep is due from time to time, and at once when the lease of a submission has expired."""

    def __init__(self, interval: timedelta) -> None:
        self._interval = interval.total_seconds()
        self._last = float("-inf")  # time.monotonic()

    def __call__(self, session: Session) -> int:
        """1 if a sweep is due."""
        if time.monotonic() < self._last + self._interval and not queue.has_expired(session):
            return 0
        self._last = time.monotonic()
        return 1
