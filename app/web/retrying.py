"""Repeats a request once if PostgreSQL ended its transaction because of concurrent ones: a deadlock, in most cases."""

import logging

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vocboard.app.database import is_conflict
from vocboard.app.intake.body_limit import FORM_LIMIT_BYTES
from vocboard.app.web.access_log import loggable

_log = logging.getLogger(__name__)


class RetryConflicts:
    """Middleware that repeats such requests, unless their body is larger than a form's.

    Nothing is left of the transaction. Handlers change what a request is about in one; others only count attempts.
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
