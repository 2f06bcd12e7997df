"""Security headers of responses."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",  # data: for images in the API documentation's style sheet
        "font-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # URLs of anonymous results are secrets and must not leave the site as referrers.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    # Most responses are specific to a user.
    "Cache-Control": "no-store",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
# For pages that other sites may show in frames, which have no forms and nobody's data. An empty header is left out.
FRAMEABLE = {
    "Content-Security-Policy": "; ".join(
        (
            "default-src 'none'",
            "style-src 'self'",
            "img-src 'self'",
            "font-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors *",
        )
    ),
    "X-Frame-Options": "",
    "Cross-Origin-Resource-Policy": "cross-origin",
}
EXPOSED = "Content-Disposition, ETag, Link, Retry-After, X-Request-Id"  # beside those that every script may read
STRICT_TRANSPORT_SECURITY = "max-age=31536000"


class SecurityHeaders:
    """Middleware that adds the headers to every response unless it sets them itself; with https, also HSTS.

    A header that a response sets to nothing is left out.
    """

    def __init__(self, app: ASGIApp, *, tls: bool) -> None:
        self._app = app
        headers = HEADERS | ({"Strict-Transport-Security": STRICT_TRANSPORT_SECURITY} if tls else {})
        self._headers = [(name.lower().encode(), value.encode()) for name, value in headers.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = message.setdefault("headers", [])
                said = {name.lower() for name, _ in own}
                added = (header for header in self._headers if header[0] not in said)
                message["headers"] = [*(header for header in own if header[1]), *added]
            await send(message)

        await self._app(scope, receive, send_with_headers)


class CrossOriginReads:
    """Middleware that lets scripts of other sites read what visitors may read of the API.

    Only responses to requests without a token or a cookie say so; requests that change something never do.
    """

    def __init__(self, app: ASGIApp, *, path: str) -> None:
        self._app = app
        self._path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http" or scope["method"] not in {"GET", "HEAD"} or not self._is_public(scope):
            await self._app(scope, receive, send)
            return

        async def send_for_all(message: Message) -> None:
            if message["type"] == "http.response.start":
                allowed = {b"access-control-allow-origin": b"*", b"access-control-expose-headers": EXPOSED.encode()}
                message["headers"] = [*message.get("headers", ()), *allowed.items()]
            await send(message)

        await self._app(scope, receive, send_for_all)

    def _is_public(self, scope: Scope) -> bool:
        given = {name for name, _ in scope["headers"]}
        return scope["path"].startswith(self._path) and not given & {b"authorization", b"cookie"}
