"""A cap on the body of every request; the routes that take uploads raise it for themselves."""

from dataclasses import dataclass

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vocboard.app.errors import TooLargeError
from vocboard.app.settings import MEBIBYTE

FORM_LIMIT_BYTES = 1 * MEBIBYTE
_KEY = "vocboard.body_limit"


@dataclass(frozen=True, slots=True)
class _Limit:
    """How long a body may be, and what to say of a longer one."""

    byte_count: int
    message: str

    def error(self) -> TooLargeError:
        return TooLargeError(self.message)


def raise_limit(request: Request, *, file: int, fields: int) -> None:
    """Let this request's body be as long as a file and the fields of its form may be.

    Args:
        file: bytes, which is the limit that people are told.
        fields: bytes.

    Raises:
        TooLargeError: the request says itself that its body is longer.
    """
    limit = request.scope[_KEY] = _Limit(file + fields, f"A file may have at most {_in_words(file)}.")
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > limit.byte_count:
        raise limit.error()


class BodyLimit:
    """Counts the bytes of a body as they are read."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope[_KEY] = _Limit(FORM_LIMIT_BYTES, f"At most {_in_words(FORM_LIMIT_BYTES)} can be sent here.")
        received = 0

        async def receive_counting() -> Message:
            nonlocal received
            message = await receive()
            if message["type"] == "http.request":
                received += len(message.get("body", b""))
                limit: _Limit = scope[_KEY]
                if received > limit.byte_count:
                    raise limit.error()
            return message

        await self._app(scope, receive_counting, send)


def _in_words(byte_count: int) -> str:
    whole, rest = divmod(byte_count, MEBIBYTE)
    return f"{byte_count:,} bytes" if rest else f"{whole} MiB"
