"""Client address and scheme of requests through the reverse proxy.

The proxy sends them in `X-Forwarded-For` and `X-Forwarded-Proto`, which anyone can send. They are only trusted together
with a secret that the proxy shares with this application. Unlike the proxy's address, the secret is known before the
proxy starts, is the same in every network, and cannot be taken by another host.
"""

import hmac
from collections.abc import Iterable

from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

SECRET_HEADER = b"x-vocboard-proxy"
_ADDRESS_HEADER = b"x-forwarded-for"
_Headers = list[tuple[bytes, bytes]]


class Forwarded:
    """Middleware that sets the client address and scheme from the proxy's headers, and removes the secret."""

    def __init__(self, app: ASGIApp, *, secret: str) -> None:
        self._app = app
        self._secret = secret.encode()
        self._believing = ProxyHeadersMiddleware(app, trusted_hosts="*")  # type: ignore[arg-type]  # uvicorn's types

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        shown = [value for name, value in scope["headers"] if name == SECRET_HEADER]
        scope["headers"] = [header for header in scope["headers"] if header[0] != SECRET_HEADER]
        if self._secret and any(hmac.compare_digest(value, self._secret) for value in shown):
            scope["headers"] = _with_one_address(scope["headers"])
            await self._believing(scope, receive, send)  # type: ignore[arg-type]
        else:
            await self._app(scope, receive, send)


def _with_one_address(headers: Iterable[tuple[bytes, bytes]]) -> _Headers:
    """Leave the last of the forwarded addresses alone: a proxy that appends puts its own after what the client sent."""
    given = [value for name, value in headers if name == _ADDRESS_HEADER]
    others = [header for header in headers if header[0] != _ADDRESS_HEADER]
    last = b",".join(given).rpartition(b",")[2].strip()
    return [*others, (_ADDRESS_HEADER, last)] if last else others
