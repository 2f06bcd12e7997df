"""HEAD requests: handled like GET, with the same headers and without a body.

Source: RFC 9110, sections 9.3.2 and 14.2 (`Range` is only for GET).
"""

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class HeadAsGet:
    """Middleware that handles HEAD as GET and ends the response after its headers, even for streams."""

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
