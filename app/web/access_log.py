"""The web process's log: a line for each request, and in every line of a request its id; no secrets of URLs."""

import logging
import re
import secrets
import time
from contextvars import ContextVar
from typing import Any
from urllib.parse import quote

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vocboard.app.counters import REFUSALS, REQUESTS
from vocboard.app.intake.requests import REFUSED

REQUEST_ID_HEADER = b"x-request-id"
QUIET_PATHS = frozenset({"/healthz", "/readyz", "/metrics"})  # asked every few seconds; only logged if they fail
# For uvicorn, which configures each of its processes; its own access log knows neither time nor person.
CONFIGURATION: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"request": {"()": "vocboard.app.web.access_log.RequestIds"}},
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s%(request)s: %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["request"]}},
    "root": {"level": "INFO", "handlers": ["stderr"]},
}
# Also within the address to go on to after signing in, which is encoded.
_SECRETS = re.compile(
    r"((?:/|%2F)(?:anonymous|team-invitations)(?:/|%2F)|(?:[?&]|%3F|%26)(?:token|code)(?:=|%3D))[^/?&]+?(?=$|[/?&]|%2F|%3F|%26)",
    re.IGNORECASE,
)
_request_id: ContextVar[str] = ContextVar("request_id", default="")
_log = logging.getLogger(__name__)


class RequestIds(logging.Filter):
    """Logging filter that adds the id of the current request to every record, as ` [id]`."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Add the id. Keeps all records."""
        request_id = _request_id.get()
        record.request = f" [{request_id}]" if request_id else ""
        return True


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
        token = _request_id.set(request_id)
        state = scope.setdefault("state", {})
        method, path, started, status = scope["method"], scope["path"], time.monotonic(), 0

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                _count(method, path, status, time.monotonic() - started)
                message["headers"] = [*message.get("headers", ()), (REQUEST_ID_HEADER, request_id.encode())]
            await send(message)

        try:
            await self._app(scope, receive, send_with_id)
        finally:
            for code in state.get(REFUSED, "").split(",") if REFUSED in state else ():
                REFUSALS.labels(code).inc()
            if path not in QUIET_PATHS or status >= 500:
                client = (scope.get("client") or ("-",))[0]
                query = scope["query_string"].decode("latin-1")
                address = loggable(path, query)
                milliseconds = 1000 * (time.monotonic() - started)
                identity = state.get("identity")
                user = getattr(identity, "user", None)
                _log.info(
                    '%s "%s %s" %s %.0f ms user=%s%s',
                    client,
                    method,
                    address,
                    status or "no answer",
                    milliseconds,
                    user.id if user else "-",
                    f" {REFUSED}={state[REFUSED]}" if REFUSED in state else "",
                )
            _request_id.reset(token)


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
    """Return the address of a request as one line of a log may hold it: no line ends, nothing secret.

    >>> loggable("/challenges/a\\nINFO all is well")
    '/challenges/a%0AINFO%20all%20is%20well'
    """
    address = quote(path)
    if query:
        address += "?" + quote(query, safe="=&%+/:,;@!$'()*~")
    return without_secrets(address)
