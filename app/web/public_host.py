"""In production, pages and API answer to the name of `VOCBOARD_PUBLIC_URL` alone, or to this machine's own.

Links in pages and e-mails can so never lead to a host that a stranger put into a request. Health checks may ask for any
name: a load balancer or an orchestrator knows the process by its address, and the answers contain no link.
"""

from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from vocboard.app.web.health import PATHS as HEALTH_CHECKS

LOOPBACK = ("localhost", "127.0.0.1")


class PublicHost:
    """Answers 400 to a request for another host, unless it is a health check."""

    def __init__(self, app: ASGIApp, *, host: str) -> None:
        self._app = app
        self._checked = TrustedHostMiddleware(app, allowed_hosts=[host, *LOOPBACK], www_redirect=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        is_health_check = scope["type"] == "http" and scope["path"] in HEALTH_CHECKS
        await (self._app if is_health_check else self._checked)(scope, receive, send)
