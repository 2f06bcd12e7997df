"""The registry of due work for each kind of worker.

The database is the queue of every kind of work. To add a kind of work, write a Celery task in `worker.tasks` and a
function that returns how many such tasks have work, and add both here.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from sqlalchemy.orm import Session

from vocboard.app.challenges import ground_truth_queue
from vocboard.app.messaging.broker import (
    COMPARE_SUBMISSIONS,
    DIAGNOSE_NEXT,
    EVALUATE_NEXT,
    IMPORT_GROUND_TRUTH,
    RESCORE,
    SCORING,
    SEND_MAIL,
    SWEEP,
    UPDATE_STATISTICS,
)
from vocboard.app.messaging.mail import outbox
from vocboard.app.rescores import queue as rescores
from vocboard.app.settings import Environment, Settings
from vocboard.app.statistics import diagnosis_queue, sequence_queue
from vocboard.app.statistics import queue as statistics
from vocboard.app.submissions import queue
from vocboard.evaluator import VERSION


@dataclass(frozen=True, slots=True)
class DueWork:
    """One kind of work.

    Attributes:
        task: name of the Celery task; must be safe to run when there is nothing left to do.
        count: returns how many of these tasks have work now.
    """

    task: str
    count: Callable[[Session], int]


def _scoring(settings: Settings) -> tuple[DueWork, ...]:
    work: tuple[DueWork, ...] = (
        DueWork(SWEEP, _SweepIsDue(settings.sweep_interval)),
        DueWork(IMPORT_GROUND_TRUTH, ground_truth_queue.is_due),
        DueWork(EVALUATE_NEXT, queue.waiting),
        DueWork(RESCORE, partial(rescores.due, evaluator_version=VERSION)),
        DueWork(UPDATE_STATISTICS, partial(statistics.due, evaluator_version=VERSION)),
        DueWork(DIAGNOSE_NEXT, partial(diagnosis_queue.due, evaluator_version=VERSION)),
        DueWork(COMPARE_SUBMISSIONS, partial(sequence_queue.due, evaluator_version=VERSION)),
    )
    if settings.environment is Environment.EMBEDDED:  # which has no separate mail worker
        work += (DueWork(SEND_MAIL, outbox.is_due),)
    return work


# By kind of worker, which is also the name of its wake-up queue. The mail worker is in `worker.mail`.
KINDS: Mapping[str, Callable[[Settings], tuple[DueWork, ...]]] = {SCORING: _scoring}


class _SweepIsDue:
    """A sweep is due periodically, and immediately when the lease of a submission has expired."""

    def __init__(self, interval: timedelta) -> None:
        self._interval = interval.total_seconds()
        self._last = float("-inf")  # time.monotonic()

    def __call__(self, session: Session) -> int:
        """1 if a sweep is due."""
        if time.monotonic() < self._last + self._interval and not queue.has_expired(session):
            return 0
        self._last = time.monotonic()
        return 1
