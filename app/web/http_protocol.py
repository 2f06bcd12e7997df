"""HTTP/1.1 with bounds on requests' heads, and on connections that do nothing: uvicorn's httptools protocol has none.

When the server stops, it still answers requests that are on their way; uvicorn would close idle connections at once.

Source: RFC 6585, section 5 (431); RFC 9110, section 15.5.9 (408).
"""

from asyncio import BaseTransport, TimerHandle
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_LIMIT_BYTES = 64 * 1024  # for request line and headers, and for trailers
HEAD_SECONDS = 20.0
# What still comes of a body whose request has been answered is read and thrown away, at the pace of an upload.
DISCARDED_BYTES_PER_SECOND = 32 * 1024
# Longer than a proxy keeps a connection on which nothing happens (`keepalive` in deploy/proxy/Caddyfile).
KEPT_BY_PROXY_SECONDS = 2.5


class BoundedHttpProtocol(HttpToolsProtocol):
    """uvicorn's protocol, with limits on the size and the duration of a request's head.

    Counts the bytes received since the last complete head or the last chunk of a body: heads, trailers and chunk
    extensions, which the parser buffers. Data received at once are parsed at once, so one such block can exceed the
    limit.

    uvicorn closes a connection that is idle after a response, but not once a single byte has come: an empty line, or
    the next piece of a body that nobody reads any more. Here a timer runs whenever no request is being answered.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._collected_bytes = 0
        self._discarded_bytes = 0
        self._in_body = False
        self._is_stopping = False
        self._head_timer: TimerHandle | None = None

    def connection_made(self, transport: BaseTransport) -> None:
        """Start the timer for the first head."""
        super().connection_made(transport)  # type: ignore[arg-type]  # the same
        self._start_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse data, unless the parser has already buffered too much."""
        if self._collected_bytes > HEAD_LIMIT_BYTES:
            self._refuse(b"431 Request Header Fields Too Large")
            return
        self._collected_bytes += len(data)
        super().data_received(data)
        if self._head_timer is None and self._is_answered and not self.transport.is_closing():
            self._start_timer()

    def on_message_begin(self) -> None:
        """Start the timer for the rest of the head."""
        self._start_timer()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Reset the count."""
        self._collected_bytes = 0
        self._in_body = True
        self._stop_timer()
        super().on_headers_complete()
        if self._is_stopping:
            self.cycle.keep_alive = False  # the response says so

    def on_body(self, body: bytes) -> None:
        """Reset the count."""
        self._collected_bytes = 0
        if self._is_answered:
            self._discarded_bytes += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Reset the count."""
        self._collected_bytes = 0
        self._in_body = False
        if self._is_answered:
            self._start_timer()
        super().on_message_complete()

    def shutdown(self) -> None:
        """End the connection with its next response, or when no proxy keeps it any more."""
        self._is_stopping = True
        if not self._is_answered:
            super().shutdown()
            return
        idle = self.timeout_keep_alive_task
        last_used = self.loop.time() if idle is None else idle.when() - self.timeout_keep_alive
        self.loop.call_at(last_used + KEPT_BY_PROXY_SECONDS, self._close_if_idle)

    def _close_if_idle(self) -> None:
        if self._is_answered:
            self.transport.close()

    @property
    def _is_answered(self) -> bool:
        """Whether the last request, if there was one, has its response."""
        return self.cycle is None or self.cycle.response_complete

    def _start_timer(self) -> None:
        self._stop_timer()
        self._discarded_bytes = 0
        self._head_timer = self.loop.call_later(HEAD_SECONDS, self._time_out)

    def _stop_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _time_out(self) -> None:
        if self._in_body and self._discarded_bytes >= DISCARDED_BYTES_PER_SECOND * HEAD_SECONDS:
            self._start_timer()
        elif self._collected_bytes and not self._in_body:
            self._refuse(b"408 Request Timeout")
        else:  # an idle connection opened in advance, or a rejected upload whose rest does not arrive
            self.transport.close()

    def _refuse(self, status: bytes) -> None:
        self._stop_timer()
        if not self.transport.is_closing():
            self.transport.write(b"HTTP/1.1 " + status + b"\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
            self.transport.close()
