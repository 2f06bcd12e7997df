"""The worker's Celery tasks: one that does jobs, and in the embedded set-up one that sends email."""

from celery import Celery

from vocboard.app.messaging.broker import SEND_MAIL, WORK
from vocboard.app.messaging.mail import delivery
from vocboard.app.messaging.mail.sending import send_due
from vocboard.app.settings import Settings
from vocboard.worker.process import Process
from vocboard.worker.work import work


def register(application: Celery, settings: Settings) -> None:
    """Register the tasks with a Celery application."""
    process = Process(settings)

    def do_jobs() -> None:
        """Do jobs until none is due or the turn is over."""
        work(process)

    def send_mail() -> None:
        """Send due messages from the outbox, in the embedded set-up, which has no separate mail worker."""
        send_due(process.database, delivery.sender(settings))

    application.task(do_jobs, name=WORK)
    application.task(send_mail, name=SEND_MAIL)
