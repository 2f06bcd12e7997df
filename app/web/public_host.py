"""In production, pages and API only accept the host of `VOCBOARD_PUBLIC_URL` or of this machine.

So links in pages and emails cannot point to a host from a forged request. Health checks accept any host, because load
balancers use addresses, and their responses contain no links.
"""

from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from vocboard.app.web.health import PATHS as HEALTH_CHECKS

LOOPBACK = ("localhost", "127.0.0.1")


class PublicHost:
    """Middleware that returns 400 for other hosts, except for health checks."""

    def __init__(self, app: ASGIApp, *, host: str) -> None:
        self._app = app
        self._checked = TrustedHostMiddleware(app, allowed_hosts=[host, *LOOPBACK], www_redirect=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        is_health_check = scope["type"] == "http" and scope["path"] in HEALTH_CHECKS
        await (self._app if is_health_check else self._checked)(scope, receive, send)
