"""`vocboard admin doctor`: what is wrong with this installation, and what to do about it."""

from collections.abc import Iterator
from datetime import timedelta
from importlib import import_module
from typing import NamedTuple

from kombu.exceptions import OperationalError as BrokerError
from sqlalchemy import func, select
from sqlalchemy.exc import SQLAlchemyError

from vocboard.app.administering import work
from vocboard.app.database import now
from vocboard.app.messaging import undelivered
from vocboard.app.messaging.broker import MAIL, SCORING, create_publisher
from vocboard.app.storage.stores import archive_store
from vocboard.app.web import health
from vocboard.commands.admin.actions import Actions, Call, Outcome, Transaction
from vocboard.evaluator import extensions
from vocboard.migrations import require_newest

ACTIONS = Actions()
_INSTANT = "%d %b %Y, %H:%M UTC"
OVERDUE_AFTER = timedelta(minutes=15)
MAX_CLOCK_DIFFERENCE = timedelta(seconds=5)  # leases and deadlines of one machine are kept by another one's clock


class Finding(NamedTuple):
    """Something that is wrong."""

    what: str
    to_do: str


@ACTIONS.runs()
def doctor(call: Call) -> Outcome:
    """Say what is wrong with this server, and what to do; the exit status is 1 if anything is."""
    found = list(_findings(call))
    if not found:
        return "Nothing is wrong."
    print("\n".join(f"{one.what}\n    {one.to_do}" for one in found))
    return 1


def _findings(call: Call) -> Iterator[Finding]:
    for name in ("worker.evaluation", "evaluator.ground_truth.reader", "evaluator.reading.results"):
        import_module(f"vocboard.{name}")  # and with them all that extensions have for workers
    for sentence in extensions.failures().values():
        yield Finding(sentence, "Correct VOCBOARD_EXTENSIONS or the package, and start web, workers and beat again.")
    store, settings = archive_store(call.settings), call.settings
    checked = health.check(settings, call.database, store)
    if checked.archives == "failing":
        place = settings.store or settings.archives
        yield Finding(
            f"Archives cannot be kept in {place}: uploads are refused.",
            "Check that it is there (mounted, or the bucket and its credentials), and that this service can write it.",
        )
    elif checked.disk == "failing":
        left, needed = (number // 1024**2 for number in (store.free_bytes(), settings.upload_limit_bytes))
        yield Finding(
            f"{left} MiB are left in {settings.archives}, where uploads are received; the largest needs {needed} MiB.",
            "Make room. `vocboard admin show-storage` says what takes most; `prune` removes what no row needs.",
        )
    try:
        with create_publisher(settings).connection_for_write() as connection:
            connection.ensure_connection(max_retries=1, interval_start=0, timeout=5)
    except (BrokerError, OSError) as error:
        yield Finding(
            f"The broker cannot be reached ({error}): results are late, since workers only look for work now and then.",
            "Start Redis, or correct VOCBOARD_BROKER_URL.",
        )
    try:
        with call.database.reading() as session:
            session.execute(select(1))
        require_newest(settings.database)
    except SQLAlchemyError as error:
        yield Finding(
            f"The database cannot be used: {getattr(error, 'orig', error)}",
            "Start it, or correct VOCBOARD_DATABASE_URL. Nothing else works without it.",
        )
    except SystemExit as error:
        yield Finding("The database does not fit this version.", str(error).removeprefix("vocboard: "))
    else:
        with call.reading() as at:
            yield from _clock(at)
            yield from _workers(at, checked)
            yield from _work(at)


def _clock(at: Transaction) -> Iterator[Finding]:
    if at.session.get_bind().dialect.name == "postgresql":
        difference = abs(now() - at.session.scalars(select(func.clock_timestamp())).one())
        if difference > MAX_CLOCK_DIFFERENCE:
            yield Finding(
                f"The clocks of this machine and of the database differ by {difference.total_seconds():.0f} s.",
                "Synchronise the clocks of all machines (NTP).",
            )


def _workers(at: Transaction, checked: health.Readiness) -> Iterator[Finding]:
    workers = work.workers(at.session)
    kinds = {one.kind for one in workers if not one.is_silent}
    for one in workers:
        if one.is_silent:
            yield Finding(
                f"Worker {one.kind} on {one.host} has not looked for work since {one.looked_at:{_INSTANT}}.",
                "Look at its log, and start it again. One that is gone is forgotten after a day.",
            )
    if SCORING not in kinds:
        yield Finding("No worker evaluates submissions.", "Start one: `vocboard worker` (the service worker).")
    elif checked.ground_truth == "failing":
        yield Finding(
            "Workers cannot read all ground truth that challenges are scored with.",
            "Their logs name the files. Restore these and the workers' key from a backup, or upload the truth again.",
        )
    if checked.mail == "failing" and (MAIL in kinds or MAIL not in {one.kind for one in workers}):
        yield Finding(
            "Email is not sent.",
            "Check the setting VOCBOARD_MAIL_URL, and the log of the worker that sends it.",
        )


def _work(at: Transaction) -> Iterator[Finding]:
    for waiting in work.unfinished(at.session):
        if waiting.due_since is not None and waiting.due_since < now() - OVERDUE_AFTER:
            yield Finding(
                f"Work is late: {waiting.due} of {waiting.kind}, since {waiting.due_since:{_INSTANT}}.",
                "Start more workers, if those that there are do look for work.",
            )
    for failed in work.failed(at.session):
        yield Finding(
            f"Jobs have failed: {failed.count} of {failed.kind}, {failed.failure}.",
            f"When the cause is gone: `vocboard admin requeue {failed.kind} {failed.failure}`.",
        )
    messages = undelivered.page_of(at.session, per_page=1).total
    if messages:
        yield Finding(
            f"Email that could not be sent: {messages}.",
            "`vocboard admin undelivered-mail` says why; `vocboard admin retry-mail` sends rejected email again.",
        )
