"""HTTP/1.1 with a bound on requests' heads, for servers without a proxy: uvicorn's httptools protocol has none.

Source: RFC 6585, section 5 (431); RFC 9110, section 15.5.9 (408).
"""

from asyncio import BaseTransport, TimerHandle
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_LIMIT_BYTES = 64 * 1024  # request line and headers; the same for trailers
HEAD_SECONDS = 20.0


class BoundedHttpProtocol(HttpToolsProtocol):
    """uvicorn's protocol, with limits on the size and the duration of a request's head.

    What counts is what has been received since the last head was complete or the last piece of a body came: heads,
    trailers and chunk extensions, which the parser collects. A piece that is received at once is parsed at once, so
    that one of them may come on top.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._collected_bytes = 0
        self._head_timer: TimerHandle | None = None

    def connection_made(self, transport: BaseTransport) -> None:
        """Expect the first head."""
        super().connection_made(transport)  # type: ignore[arg-type]  # the same
        self._start_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Expect nothing any more."""
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse data, unless the parser has collected too much already."""
        if self._collected_bytes > HEAD_LIMIT_BYTES:
            self._refuse(b"431 Request Header Fields Too Large")
            return
        self._collected_bytes += len(data)
        super().data_received(data)

    def on_message_begin(self) -> None:
        """Expect the rest of the head."""
        self._start_timer()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Count anew."""
        self._collected_bytes = 0
        self._stop_timer()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Count anew."""
        self._collected_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Count anew."""
        self._collected_bytes = 0
        super().on_message_complete()

    def _start_timer(self) -> None:
        self._stop_timer()
        self._head_timer = self.loop.call_later(HEAD_SECONDS, self._time_out)

    def _stop_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _time_out(self) -> None:
        if self._collected_bytes:
            self._refuse(b"408 Request Timeout")
        else:  # a connection that a browser has opened ahead
            self.transport.close()

    def _refuse(self, status: bytes) -> None:
        self._stop_timer()
        if not self.transport.is_closing():
            self.transport.write(b"HTTP/1.1 " + status + b"\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
            self.transport.close()
