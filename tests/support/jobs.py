"""Jobs of workers, done in this process."""

import uuid
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from sqlalchemy import select, update

from vocboard.app.database import Database, now
from vocboard.app.evaluations import ground_truth_queue
from vocboard.app.jobs import service as jobs
from vocboard.app.jobs.models import Job, Kind
from vocboard.app.jobs.service import Claim, LostClaimError
from vocboard.app.messaging.delivery import Send
from vocboard.app.rescores import queue as rescores
from vocboard.app.settings import Settings
from vocboard.app.storage.archives import ArchiveStore
from vocboard.app.submissions import queue
from vocboard.worker import rescoring
from vocboard.worker import sweep as sweeping
from vocboard.worker.process import Process
from vocboard.worker.work import work_next


def process(database: Database, store: ArchiveStore | None, settings: Settings, *kinds: Kind) -> Process:
    """Return a worker process for some kinds of jobs, by default all."""
    made = Process(settings, kinds or tuple(Kind))
    made.database = database
    if store is not None:
        made.store = store
    return made


def work(database: Database, store: ArchiveStore | None, settings: Settings, *kinds: Kind) -> bool:
    """Do the next job of some kinds; return whether there was one."""
    return work_next(process(database, store, settings, *kinds))


def evaluate_next(database: Database, store: ArchiveStore, settings: Settings) -> bool:
    """Evaluate the next submission; return whether there was one."""
    return work(database, store, settings, Kind.EVALUATION)


def import_next(database: Database, settings: Settings) -> bool:
    """Import the next version of ground truth; return whether there was one."""
    return work(database, None, settings, Kind.IMPORT)


def diagnose_next(database: Database, store: ArchiveStore, settings: Settings) -> bool:
    """Diagnose the next evaluation; return whether there was one."""
    return work(database, store, settings, Kind.DIAGNOSIS)


def update_next(database: Database, store: ArchiveStore, settings: Settings) -> bool:
    """Compute statistics of the next challenge for a turn; return whether there was one."""
    return work(database, store, settings, Kind.STATISTICS)


def compare_next(database: Database, store: ArchiveStore, settings: Settings) -> bool:
    """Compare submissions in the next challenge; return whether there was one."""
    return work(database, store, settings, Kind.SEQUENCES)


def rescore_next(database: Database, store: ArchiveStore, settings: Settings) -> bool:
    """Do a job of a re-score; return whether there was one."""
    with database.writing() as session:
        rescores.add_missing(session, vars(rescoring)["VERSION"])
    return work(database, store, settings, Kind.RESCORE, Kind.BATCH)


def send_due(database: Database, directory: Path, send: Send) -> int:
    """Send the messages that are due; return the number of attempts."""
    worker = process(database, None, Settings(data_directory=directory), Kind.MAIL)
    worker.send_mail = send
    attempts = 0
    while work_next(worker):
        attempts += 1
    return attempts


def sweep(database: Database, settings: Settings) -> None:
    """Sweep now."""
    sweeping.sweep(process(database, None, settings))


def job_of(database: Database, key: uuid.UUID) -> Job:
    """Return the latest job about something."""
    with database.reading() as session:
        return session.scalars(select(Job).where(Job.key == key).order_by(Job.created_at.desc())).first() or Job()


def claim_next(database: Database, kind: Kind, *, lease: timedelta = timedelta(minutes=1)) -> Claim | None:
    """Claim the next job as a worker that does nothing with it; a submission or an import is marked as begun."""
    with database.writing() as session:
        claim = jobs.claim(session, [kind], lease=lease)
    begin = {Kind.EVALUATION: queue.begin, Kind.IMPORT: ground_truth_queue.begin}.get(kind)
    if claim is not None and begin is not None:
        with database.writing() as session:
            begin(session, claim)
    return claim


def stores(database: Database, end: Callable[..., None], claim: Claim | None, *given: object, **named: object) -> bool:
    """End a job with a function of its queue; return whether that was stored."""
    try:
        with database.writing() as session:
            end(session, claim, *given, **named)
    except LostClaimError:
        return False
    return True


def let_leases_end(database: Database) -> None:
    """Let all pending jobs be due."""
    with database.writing() as session:
        session.execute(update(Job).where(Job.finished_at.is_(None)).values(not_before=now()))
