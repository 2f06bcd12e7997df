"""Sends due messages from the outbox."""

import logging

from vocboard.app.database import Database
from vocboard.app.messaging.mail import outbox
from vocboard.app.messaging.mail.delivery import DeferredError, MailServerError, Send, UndeliverableError

_log = logging.getLogger(__name__)


def send_due(database: Database, send: Send) -> int:
    """Send due messages until none is left or the mail server is unavailable.

    If the server is down, only one message is tried; the others remain due. If it defers one, the others are sent.

    Returns:
        Number of sent messages.
    """
    with database.writing() as session:
        given_up = outbox.expire(session)
    if given_up:
        _log.error("%d messages could not be sent in time and have failed; see the table outbox", given_up)
    sent = 0
    while True:
        with database.writing() as session:
            message = outbox.claim_next(session)
        if message is None:
            return sent
        try:
            send(message)
        except UndeliverableError as error:
            _log.error("the mail server permanently rejected message %s: %s", message.id, error)  # no traceback
            with database.writing() as session:
                outbox.mark_failed(session, message, str(error), is_final=True)
        except (DeferredError, MailServerError, OSError) as error:
            _log.warning("message %s could not be sent, attempt %d: %s", message.id, message.attempts, error)
            with database.writing() as session:
                outbox.mark_failed(session, message, str(error), is_final=False)
            if not isinstance(error, DeferredError):
                return sent
        else:
            sent += 1
            with database.writing() as session:
                outbox.mark_sent(session, message)
