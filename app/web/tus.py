"""What the tus protocol asks of every request and response, for the routes of resumable uploads.

Source: tus resumable upload protocol 1.0.0, headers Tus-Resumable, Tus-Version and X-HTTP-Method-Override.
"""

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vocboard.app.errors import ServiceError

VERSION = "1.0.0"
OVERRIDES = frozenset({"PATCH", "DELETE"})  # methods that a client without them sends as POST


class UnsupportedVersionError(ServiceError):
    """The client speaks another version of the protocol."""

    status, code, title = 412, "unsupported_tus_version", "The version of the tus protocol is not supported"


class TusProtocol:
    """Middleware that names the version in every response below a path, and takes POST for the method it stands for.

    The route checks the version, with `check_version`.
    """

    def __init__(self, app: ASGIApp, *, path: str) -> None:
        self._app = app
        self._path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http" or not scope["path"].startswith(self._path):
            await self._app(scope, receive, send)
            return

        async def send_with_version(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["Tus-Resumable"] = VERSION
                if message["status"] == UnsupportedVersionError.status:
                    headers["Tus-Version"] = VERSION
            await send(message)

        meant = Headers(scope=scope).get("x-http-method-override", "").upper()
        if scope["method"] == "POST" and meant in OVERRIDES:
            scope = {**scope, "method": meant}
        await self._app(scope, receive, send_with_version)


def check_version(version: str | None) -> None:
    """Check the version in a request's `Tus-Resumable`; a request without it is treated as the current one.

    Raises:
        UnsupportedVersionError: it is another one.
    """
    if version not in (None, VERSION):
        raise UnsupportedVersionError(f"This server supports version {VERSION} of the tus protocol.")
