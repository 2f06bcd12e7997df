"""Middleware that is about no route in particular, outermost first; `app.main` installs it."""

import asyncio
import hmac
import ipaddress
import logging
from collections import Counter
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from vocboard.app.database import is_conflict
from vocboard.app.errors import BusyError
from vocboard.app.intake.body_limit import FORM_LIMIT_BYTES
from vocboard.app.intake.requests import client_address
from vocboard.app.rate_limits import network
from vocboard.app.web.access_log import loggable
from vocboard.app.web.health import PATHS as HEALTH_CHECKS

SECRET_HEADER = b"x-vocboard-proxy"
_ADDRESS_HEADER = b"x-forwarded-for"
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
AT_ONCE = 2  # requests of one network that read, in one web process
MAX_WAITING = 100  # of one network; a whole university may share one
RETRY_AFTER_SECONDS = 2
WAITING_FOR_PROVIDERS = "/sign-in/with/"  # requests that wait for another server, which must not take turns
_READING = frozenset({"GET", "HEAD"})

_log = logging.getLogger(__name__)


class Forwarded:
    """Sets the client address and scheme of requests through the reverse proxy, and removes the proxy's secret.

    The proxy sends them in `X-Forwarded-For` and `X-Forwarded-Proto`, which anyone can send. They are only trusted
    together with a secret that the proxy shares with this application. Unlike the proxy's address, the secret is known
    before the proxy starts, is the same in every network, and cannot be taken by another host.
    """

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


def _with_one_address(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Leave the last of the forwarded addresses alone: a proxy that appends puts its own after what the client sent."""
    given = [value for name, value in headers if name == _ADDRESS_HEADER]
    others = [header for header in headers if header[0] != _ADDRESS_HEADER]
    last = b",".join(given).rpartition(b",")[2].strip()
    return [*others, (_ADDRESS_HEADER, last)] if last else others


class PublicHost:
    """Returns 400 for other hosts than that of `VOCBOARD_PUBLIC_URL` or of this machine.

    So links in pages and emails cannot point to a host from a forged request; and in the embedded set-up, a page of
    another site cannot read this server through a name that it has let point to this machine (DNS rebinding). There,
    numeric addresses are accepted, too: no name can point to them. Health checks accept any host, because load
    balancers use addresses, and their responses contain no links.
    """

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


class HeadAsGet:
    """Handles HEAD as GET and ends the response after its headers, even for streams.

    Source: RFC 9110, sections 9.3.2 and 14.2 (`Range` is only for GET).
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return
        answered = asyncio.Event()

        async def receive_until_answered() -> Message:
            if answered.is_set():
                return {"type": "http.disconnect"}  # the client expects no body
            return await receive()

        async def send_headers_alone(message: Message) -> None:
            if message["type"] == "http.response.start":
                await send(message)
                await send({"type": "http.response.body", "body": b""})
                answered.set()

        headers = [(name, value) for name, value in scope["headers"] if name != b"range"]
        await self._app({**scope, "method": "GET", "headers": headers}, receive_until_answered, send_headers_alone)


class ReadingTurns:
    """Gives each network a few places for requests that read, so that one client does not delay the others.

    Rendering uses the processor, of which a process has one at a time. So requests of a network beyond the first few
    wait for these, and not the requests of other networks. A turn ends when the response begins: streams hold none.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._places: dict[str, asyncio.Semaphore] = {}
        self._present: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request.

        Raises:
            BusyError: too many requests of this network are waiting.
        """
        if not _needs_turn(scope):
            await self._app(scope, receive, send)
            return
        client = network(client_address(HTTPConnection(scope)))
        if self._present[client] >= AT_ONCE + MAX_WAITING:
            raise BusyError(
                "Too many requests of your network are waiting. Try again.", retry_after=RETRY_AFTER_SECONDS
            )
        self._present[client] += 1
        places = self._places.setdefault(client, asyncio.Semaphore(AT_ONCE))
        has_turn = False

        def end_turn() -> None:
            nonlocal has_turn
            if has_turn:
                has_turn = False
                places.release()

        async def send_and_end(message: Message) -> None:
            if message["type"] == "http.response.start":
                end_turn()
            await send(message)

        try:
            await places.acquire()
            has_turn = True
            await self._app(scope, receive, send_and_end)
        finally:
            end_turn()
            self._present[client] -= 1
            if not self._present[client]:
                del self._present[client], self._places[client]


def _needs_turn(scope: Scope) -> bool:
    if scope["type"] != "http" or scope["method"] not in _READING:
        return False
    path: str = scope["path"]
    return path not in HEALTH_CHECKS and not path.startswith(("/static/", WAITING_FOR_PROVIDERS))


class RetryConflicts:
    """Repeats a request once if PostgreSQL ended its transaction because of concurrent ones: mostly deadlocks.

    Nothing is left of the transaction. Handlers change what a request is about in one; others only count attempts.
    Requests whose body is larger than a form's are not repeated.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        received: list[Message] = []
        byte_count = 0
        has_started = False

        async def receive_recording() -> Message:
            nonlocal byte_count
            message = await receive()
            byte_count += len(message.get("body", b""))
            if byte_count <= FORM_LIMIT_BYTES:
                received.append(message)
            else:
                received.clear()
            return message

        async def receive_again() -> Message:
            return received.pop(0) if received else await receive()

        async def send_noting_start(message: Message) -> None:
            nonlocal has_started
            has_started = True
            await send(message)

        # In place, because the outer layers share them.
        state = scope.setdefault("state", {})
        scope_before, state_before = dict(scope), dict(state)
        try:
            await self._app(scope, receive_recording, send_noting_start)
        except Exception as error:
            if has_started or byte_count > FORM_LIMIT_BYTES or not is_conflict(error):
                raise
            _log.warning("%s %s: repeated after a conflict: %s", scope["method"], loggable(scope["path"]), error)
            scope.clear()
            scope.update(scope_before)
            state.clear()
            state.update(state_before)
            await self._app(scope, receive_again, send)
