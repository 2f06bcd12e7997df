"""Pages and API only accept the host of `VOCBOARD_PUBLIC_URL` or of this machine.

So links in pages and emails cannot point to a host from a forged request; and in the embedded set-up, a page of another
site cannot read this server through a name that it has let point to this machine (DNS rebinding). There, numeric
addresses are accepted, too: no name can point to them. Health checks accept any host, because load balancers use
addresses, and their responses contain no links.
"""

import ipaddress
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from vocboard.app.web.health import PATHS as HEALTH_CHECKS

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class PublicHost:
    """Middleware that returns 400 for other hosts, except for health checks."""

    def __init__(self, app: ASGIApp, *, public_url: str, accepts_addresses: bool) -> None:
        self._app = app
        self._public_url = public_url
        self._hosts = LOOPBACK | {_host(urlsplit(public_url).netloc)}
        self._accepts_addresses = accepts_addresses

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] not in {"http", "websocket"} or scope["path"] in HEALTH_CHECKS or self._accepts(scope):
            await self._app(scope, receive, send)
            return
        text = f"This server is {self._public_url}. Its operators can set another address: VOCBOARD_PUBLIC_URL.\n"
        await PlainTextResponse(text, 400)(scope, receive, send)

    def _accepts(self, scope: Scope) -> bool:
        host = _host(Headers(scope=scope).get("host", ""))
        return host in self._hosts or (self._accepts_addresses and _is_address(host))


def _host(given: str) -> str:
    """Return a host without its port and brackets; empty if it is malformed.

    >>> _host("VOC.example:8000"), _host("[::1]:8000"), _host("]")
    ('voc.example', '::1', '')
    """
    try:
        return urlsplit(f"//{given}").hostname or ""
    except ValueError:
        return ""


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
