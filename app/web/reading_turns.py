"""Turns of a network among those who read pages: many requests of one client do not delay the requests of others.

Rendering uses the processor, of which a process has one at a time. So requests of a network beyond the first few wait
for these, and not the requests of other networks. A turn ends when the response begins: streams hold none.
"""

import asyncio
from collections import Counter

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vocboard.app.errors import BusyError
from vocboard.app.intake.requests import client_address
from vocboard.app.rate_limits import network
from vocboard.app.web.health import PATHS as HEALTH_CHECKS

AT_ONCE = 2  # of one network, in one web process
MAX_WAITING = 100  # of one network; a whole university may share one
RETRY_AFTER_SECONDS = 2
_READING = frozenset({"GET", "HEAD"})


class ReadingTurns:
    """Middleware that gives each network a few places for requests that read."""

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
    return path not in HEALTH_CHECKS and not path.startswith("/static/")
