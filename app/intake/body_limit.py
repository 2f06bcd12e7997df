"""A cap on the body of every request, and on how long it takes to arrive; routes that take uploads set their own."""

import asyncio
from dataclasses import dataclass

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vocboard.app.errors import TooLargeError, TooSlowError
from vocboard.app.settings import MEBIBYTE

FORM_LIMIT_BYTES = 1 * MEBIBYTE
FORM_SECONDS = 60.0  # from when it is first read; uploads have a pace of their own (app.intake.body)
_KEY = "vocboard.body_limit"


@dataclass(frozen=True, slots=True)
class _Limit:
    """How long a body may be, and what to say of a longer one.

    Attributes:
        seconds: maximum duration of the upload; None if the reader enforces it.
    """

    byte_count: int
    message: str
    seconds: float | None = None

    def error(self) -> TooLargeError:
        return TooLargeError(self.message)


def raise_limit(request: Request, *, file: int, fields: int, message: str = "") -> None:
    """Raise the limit for this request to the maximum size of a file and its form fields.

    Args:
        file: bytes.
        fields: bytes.
        message: of the error; by default the limit of the file.

    Raises:
        TooLargeError: the announced size exceeds the limit.
    """
    limit = request.scope[_KEY] = _Limit(file + fields, message or f"A file may have at most {_in_words(file)}.")
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > limit.byte_count:
        raise limit.error()


class BodyLimit:
    """Counts the bytes of a body as they are read, and ends one that does not arrive."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        message = f"At most {_in_words(FORM_LIMIT_BYTES)} can be sent here."
        scope[_KEY] = _Limit(FORM_LIMIT_BYTES, message, FORM_SECONDS)
        body = _Body(receive)
        await self._app(scope, lambda: body.receive(scope[_KEY]), send)


class _Body:
    """One request's body while it is read."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._received_bytes = 0
        self._is_complete = False
        self._ends_at: float | None = None  # by the event loop's clock

    async def receive(self, limit: _Limit) -> Message:
        """Return the next message of the request."""
        message = await self._next(limit)
        if message["type"] == "http.request":
            self._received_bytes += len(message.get("body", b""))
            self._is_complete = not message.get("more_body", False)
            if self._received_bytes > limit.byte_count:
                raise limit.error()
        return message

    async def _next(self, limit: _Limit) -> Message:
        if self._is_complete or limit.seconds is None:  # what is awaited then is that the client goes away
            return await self._receive()
        if self._ends_at is None:
            self._ends_at = asyncio.get_running_loop().time() + limit.seconds
        try:
            async with asyncio.timeout_at(self._ends_at):
                return await self._receive()
        except TimeoutError:
            raise TooSlowError(f"What is sent here has to arrive within {limit.seconds:g} seconds.") from None


def _in_words(byte_count: int) -> str:
    whole, rest = divmod(byte_count, MEBIBYTE)
    return f"{byte_count:,} bytes" if rest else f"{whole} MiB"
