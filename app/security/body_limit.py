"""A cap on the body of every request; the routes that take uploads raise it for themselves."""

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.errors import TooLargeError
from app.settings import MEBIBYTE

FORM_LIMIT_BYTES = 1 * MEBIBYTE
_KEY = "vocboard.body_limit"


def raise_limit(request: Request, limit: int) -> None:
    """Let this request's body be up to `limit` bytes long.

    Raises:
        TooLargeError: the request says itself that its body is longer.
    """
    request.scope[_KEY] = limit
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > limit:
        raise _too_large(limit)


class BodyLimit:
    """Counts the bytes of a body as they are read."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope[_KEY] = FORM_LIMIT_BYTES
        received = 0

        async def receive_counting() -> Message:
            nonlocal received
            message = await receive()
            if message["type"] == "http.request":
                received += len(message.get("body", b""))
                if received > scope[_KEY]:
                    raise _too_large(scope[_KEY])
            return message

        await self._app(scope, receive_counting, send)


def _too_large(limit: int) -> TooLargeError:
    return TooLargeError(f"At most {limit // MEBIBYTE} MiB can be sent here.")
