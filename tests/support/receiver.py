"""A receiver of webhooks: a real HTTP server in a thread, which says what it answers and keeps what it got."""

import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(slots=True)
class Receiver:
    """What it answers, and the requests that it got.

    Attributes:
        answers: statuses by path; None ends the connection without an answer.
        got: path, headers and body of each request.
    """

    url: str = ""
    answers: dict[str, int | None] = field(default_factory=dict)
    got: list[tuple[str, Mapping[str, str], str]] = field(default_factory=list)


@contextmanager
def receiving(context: ssl.SSLContext | None = None) -> Iterator[Receiver]:
    """Run a receiver on a port of this machine, for https if there is a context."""
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            status = receiver.answers.get(self.path, 204)
            receiver.got.append((self.path, dict(self.headers.items()), body))
            if status is None:
                self.close_connection = True
                return
            self.send_response(status)
            if 300 <= status < 400:
                self.send_header("Location", f"{receiver.url}/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    receiver.url = f"http{'s' if context else ''}://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
