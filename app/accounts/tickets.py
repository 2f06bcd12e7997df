"""Tickets: what one request leaves to a later one, encrypted in a cookie or a link, and valid for a limited time."""

import json
from datetime import timedelta
from typing import Any

from nacl.encoding import URLSafeBase64Encoder
from nacl.exceptions import CryptoError

from vocboard.app.accounts.secret_tokens import box
from vocboard.app.database import now


class Tickets:
    """Tickets for one purpose, which are no tickets for another.

    Args:
        server_key: `Settings.secret_key`.
    """

    def __init__(self, purpose: str, *, server_key: str) -> None:
        self._box = box(purpose, server_key=server_key)

    def issue(self, content: dict[str, Any], lifetime: timedelta) -> str:
        """Return the ticket for a content that JSON can express."""
        dated = {**content, "until": (now() + lifetime).timestamp()}
        return self._box.encrypt(json.dumps(dated).encode(), encoder=URLSafeBase64Encoder).decode()

    def content(self, ticket: str) -> dict[str, Any]:
        """Return the content of a ticket; empty if it is not ours, or old."""
        try:
            content: dict[str, Any] = json.loads(self._box.decrypt(ticket.encode(), encoder=URLSafeBase64Encoder))
        except (CryptoError, ValueError):
            return {}
        return content if now().timestamp() < content["until"] else {}
