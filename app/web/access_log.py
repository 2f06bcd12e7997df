"""A line of the log for each request, without secrets of URLs; and in every line of a request its id."""

import logging
import re
import secrets
import time
from contextlib import nullcontext
from typing import TYPE_CHECKING
from urllib.parse import quote

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vocboard.app.counters import REFUSALS, REQUESTS
from vocboard.app.intake.requests import REFUSED
from vocboard.app.logs import DETAILS, REQUEST, about, without_addresses
from vocboard.app.tracing import span

if TYPE_CHECKING:
    from opentelemetry.trace import Span

REQUEST_ID_HEADER = b"x-request-id"
QUIET_PATHS = frozenset({"/healthz", "/readyz", "/metrics"})  # asked every few seconds; only logged if they fail
# Also within the address to go on to after signing in, which is encoded.
_SECRETS = re.compile(
    r"((?:/|%2F)(?:anonymous|team-invitations)(?:/|%2F)|(?:[?&]|%3F|%26)(?:token|code)(?:=|%3D))[^/?&]+?(?=$|[/?&]|%2F|%3F|%26)",
    re.IGNORECASE,
)
_log = logging.getLogger(__name__)


class AccessLog:
    """Middleware that logs each request when it has ended, and returns its id in the header `X-Request-Id`.

    The line has client, request, status, duration, the person's id, and of a refused upload the codes of its problems.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = secrets.token_hex(8)
        state = scope.setdefault("state", {})
        method, path, started, status = scope["method"], scope["path"], time.monotonic(), 0

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                _count(method, path, status, time.monotonic() - started)
                message["headers"] = [*message.get("headers", ()), (REQUEST_ID_HEADER, request_id.encode())]
            await send(message)

        quiet = path in QUIET_PATHS
        traced = nullcontext() if quiet else span(method, {"vocboard.request": request_id}, is_server=True)
        with about(**{REQUEST: request_id}), traced as recorded:
            try:
                await self._app(scope, receive, send_with_id)
            finally:
                if recorded:
                    _describe(recorded, scope, status)
                for code in state[REFUSED].split(",") if REFUSED in state else ():
                    REFUSALS.labels(code).inc()
                if not quiet or status >= 500:
                    _write(scope, status, time.monotonic() - started)


def _write(scope: Scope, status: int, seconds: float) -> None:
    state = scope["state"]
    user = getattr(state.get("identity"), "user", None)
    details = {
        "client": (scope.get("client") or ("-",))[0],
        "method": scope["method"],
        "address": loggable(scope["path"], scope["query_string"].decode("latin-1")),
        "status": status,
        "milliseconds": round(1000 * seconds),
        "person": user and user.id,
        REFUSED: state.get(REFUSED),
    }
    _log.info(
        '%s "%s %s" %s %d ms user=%s%s',
        details["client"],
        details["method"],
        details["address"],
        status or "no answer",
        details["milliseconds"],
        details["person"] or "-",
        f" {REFUSED}={details[REFUSED]}" if details[REFUSED] else "",
        extra={DETAILS: {name: value for name, value in details.items() if value is not None}},
    )


def _describe(recorded: "Span", scope: Scope, status: int) -> None:
    route = getattr(scope.get("route"), "path", "")  # not the address, which can hold tokens
    recorded.update_name(f"{scope['method']} {route}".strip())
    recorded.set_attributes(
        {"http.request.method": scope["method"], "http.route": route, "http.response.status_code": status}
    )


def _count(method: str, path: str, status: int, seconds: float) -> None:
    if path in QUIET_PATHS:
        return
    part = "api" if path.startswith("/api/") else "static" if path.startswith("/static/") else "pages"
    access = "read" if method in {"GET", "HEAD"} else "change"
    REQUESTS.labels(part, access, f"{status // 100}xx").observe(seconds)


def without_secrets(address: str) -> str:
    """Return a URL without its secret part.

    >>> without_secrets("/anonymous/8kZ3?competition=comp4")
    '/anonymous/…?competition=comp4'
    >>> without_secrets("/sign-in?next=%2Fteam-invitations%2F8kZ3")
    '/sign-in?next=%2Fteam-invitations%2F…'
    """
    return _SECRETS.sub(r"\1…", address)


def loggable(path: str, query: str = "") -> str:
    """Return the address of a request as one line of a log may hold it: no line ends, nothing secret, no email address.

    >>> loggable("/challenges/a\\nINFO all is well")
    '/challenges/a%0AINFO%20all%20is%20well'
    >>> loggable("/admin/people", "q=ada%40lab.example&next=%2Fq%3Dada%2540lab.example&q=ada@lab.example")
    '/admin/people?q=…@…&next=…@…&q=…@…'
    """
    address = quote(path)
    if query:
        address += "?" + quote(query, safe="=&%+/:,;@!$'()*~")
    return without_addresses(without_secrets(address))
