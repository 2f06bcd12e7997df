"""Sends email: each message in the outbox has a job.

A message is sent at least once: if a worker dies between the mail server's response and its own commit, the message is
sent again with the same Message-ID.
"""

import logging
from collections.abc import Callable
from functools import partial

from sqlalchemy.orm import Session

from vocboard.app.database import now
from vocboard.app.jobs import service as jobs
from vocboard.app.jobs.service import Claim
from vocboard.app.messaging import outbox
from vocboard.app.messaging.delivery import DeferredError, MailServerError, UndeliverableError
from vocboard.app.messaging.outbox import MailFailure
from vocboard.app.notifications import emails as notification_emails
from vocboard.app.webhooks import delivering as webhooks
from vocboard.worker.process import Process

_log = logging.getLogger(__name__)


def send(process: Process, claim: Claim) -> None:
    """Send a message; if the mail server does not take it now, it is due again later, until it expires."""
    with process.database.writing() as session:
        message = outbox.get(session, claim)
        if message is None or message.expires_at <= now():
            _log.error("message %s could not be sent in time and has failed", claim.key)
            outbox.finish(session, claim, failure=MailFailure.EXPIRED)
            return
    end: Callable[[Session, Claim], None] = outbox.finish
    try:
        process.send_mail(message)
    except UndeliverableError as error:
        _log.error("the mail server permanently rejected message %s: %s", message.id, error)  # no traceback
        end = partial(outbox.finish, failure=MailFailure.REJECTED, error=str(error))
    except DeferredError as error:
        _log.warning("message %s was deferred, attempt %d: %s", message.id, claim.attempt, error)
        end = partial(outbox.retry, failure=MailFailure.DEFERRED, error=str(error))
    except (MailServerError, OSError) as error:
        _log.warning("message %s could not be sent, attempt %d: %s", message.id, claim.attempt, error)
        end = partial(outbox.retry, failure=MailFailure.MAIL_SERVER, error=str(error))
    process.store_result(lambda session: end(session, claim))


def sweep(process: Process, claim: Claim) -> None:
    """Make emails of notifications, add jobs of webhooks, and delete what is old; again after the interval."""
    may_be_more = True
    while may_be_more:
        with process.database.writing() as session:
            jobs.require_held(session, claim)
            may_be_more = notification_emails.put_due(session, site=process.settings.public_url)
    with process.database.writing() as session:
        webhooks.add_jobs(session)
        webhooks.remove_old(session, kept_for=process.settings.webhook_log_kept_for)
        outbox.remove_old(session)
        notification_emails.remove_old(session)
        jobs.release(session, claim, after=process.settings.sweep_interval)
