"""Tells programs what is left of the limits that a request counts against, so that they need not run into them.

Source: IETF draft "RateLimit header fields for HTTP", version 11.
"""

import math
from collections.abc import Iterable

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vocboard.app.database import now
from vocboard.app.rate_limits import Standing, telling

POLICY, STANDING = "RateLimit-Policy", "RateLimit"


class RateLimitHeaders:
    """Middleware that adds `RateLimit-Policy` and `RateLimit` to responses of the API for which something was counted.

    The limits are those that `app.rate_limits` and `app.intake.attempts` apply. `Retry-After` goes before them.
    """

    def __init__(self, app: ASGIApp, *, path: str) -> None:
        self._app = app
        self._path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http" or not scope["path"].startswith(self._path):
            await self._app(scope, receive, send)
            return
        with telling() as found:

            async def send_with_limits(message: Message) -> None:
                if message["type"] == "http.response.start" and found:
                    headers = MutableHeaders(scope=message)
                    headers[POLICY], headers[STANDING] = fields_of(found.values())
                await send(message)

            await self._app(scope, receive, send_with_limits)


def fields_of(standings: Iterable[Standing]) -> tuple[str, str]:
    """Return the values of both headers, lists of structured fields."""
    policies, remaining = [], []
    for one in standings:
        unit = f';qu="{one.unit}"' if one.unit else ""
        policies.append(f'"{one.name}";q={one.quota}{unit};w={one.period.total_seconds():.0f}')
        seconds = max(0, math.ceil((one.more_at - now()).total_seconds()))
        remaining.append(f'"{one.name}";r={one.remaining};t={seconds}')
    return ", ".join(policies), ", ".join(remaining)
