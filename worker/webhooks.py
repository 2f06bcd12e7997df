"""Delivers events to webhooks: a job makes one attempt of one webhook.

An event is delivered at least once: if a worker dies between the receiver's answer and its own commit, the same is sent
again under the same id.
"""

import logging

from vocboard.app.database import now
from vocboard.app.jobs import service as jobs
from vocboard.app.jobs.service import Claim
from vocboard.app.webhooks import delivering, sending, signing
from vocboard.app.webhooks.models import Off
from vocboard.worker.process import Process

_log = logging.getLogger(__name__)


def deliver(process: Process, claim: Claim) -> None:
    """Make the next attempt of a webhook."""
    settings = process.settings
    with process.database.writing() as session:
        found = delivering.next_of(session, claim)
        if found is None:
            return
        webhook, delivery = found
        key = settings.key_of_webhooks
        secret = None if key is None else signing.opened(webhook.sealed_secret, server_key=key)
        if secret is None:
            delivering.switch_off(session, webhook.id, Off.KEY)
            jobs.finish(session, claim)
            return
    headers = signing.signed_headers(secret, delivery.id, now(), delivery.content)
    answer = sending.post(webhook.url, delivery.content, headers, anywhere=settings.webhooks_anywhere)
    if not answer.is_success:
        said = answer.status or answer.error
        _log.warning("webhook %s: attempt %d of %s failed: %s", webhook.id, claim.attempt, delivery.id, said)
    process.store_result(lambda session: delivering.record(session, claim, delivery, answer))
